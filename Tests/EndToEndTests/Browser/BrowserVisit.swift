internal import Foundation
internal import TestSupport
internal import Testing

/// A browser that loads an origin's pages through `dictum serve`, and sends its reports the same way.
final class BrowserVisit {
    let proxy: ServedProxy
    private let certificates: TestCertificates?
    private var browser: (any Browser)?

    /// Starts the proxy; `answer` returns the response to each request target except `/report`.
    init(isTLS: Bool, _ settings: String, _ answer: @escaping @Sendable (String) -> [UInt8]?) throws {
        let certificates = isTLS ? try TestCertificates() : nil
        self.certificates = certificates
        let origin = try Origin { request, connection in
            if request.target == "/report" {
                connection.send(wire("HTTP/1.1 204 No Content"))
            } else {
                connection.send(answer(request.target) ?? wire("HTTP/1.1 404 Not Found", body: []))
            }
        }
        proxy = try ServedProxy(
            origin, in: TemporaryFolder(), settings, listener: certificates?.settings() ?? "")
    }

    /// Opens a page in a new browser.
    ///
    /// At `localhost` browsers use dictionaries with any certificate.
    func open(_ path: String, at host: String = "localhost") throws {
        browser = try Chromium(
            "\(proxy.scheme)://\(host):\(proxy.port)\(path)", trusting: certificates)
    }

    /// Opens a page in a new Firefox.
    func openInFirefox(_ path: String) throws {
        let certificates = try #require(certificates, "Firefox speaks dictionaries by https only")
        browser = try Firefox("https://localhost:\(proxy.port)\(path)", trusting: certificates)
    }

    /// Returns the reports up to the last one, and ends the browser.
    func reports() throws -> [BrowserReport] {
        defer { browser = nil }
        var reports: [BrowserReport] = []
        do {
            try waitUntil("the last report of the browser") {
                reports = try proxy.origin.requests.filter { $0.target == "/report" }.map {
                    try JSONDecoder().decode(BrowserReport.self, from: Data($0.body))
                }
                return reports.contains { !$0.more }
            }
        } catch {
            Issue.record("\(reports) \(try browser?.process.terminate().errors ?? "")")
            throw error
        }
        for report in reports { try #require(report.error == nil, "in the page: \(report.error ?? "")") }
        return reports
    }

    /// Expects a plain first fetch and, from some later fetch on, only deltas.
    ///
    /// A browser can use a dictionary only some milliseconds after it arrives, so the first fetch with a delta varies.
    static func expectDeltas(_ coding: String, in fetches: [BrowserReport.Fetch]) {
        #expect(fetches.first?.coding != coding, "\(fetches)")
        let later = fetches.drop { $0.coding != coding }
        #expect(later.count >= 2 && later.allSatisfy { $0.coding == coding }, "\(fetches)")
        #expect(later.allSatisfy { $0.encodedBytes * 20 < $0.decodedBytes }, "\(fetches)")
    }

    /// Ends the proxy, and returns the access-log lines whose request target has this prefix.
    func log(of target: String) throws -> [BrowserLogLine] {
        try proxy.process.terminate().text.split(separator: "\n").map { line in
            try JSONDecoder().decode(BrowserLogLine.self, from: Data(line.utf8))
        }.filter { $0.target.hasPrefix(target) }
    }
}
