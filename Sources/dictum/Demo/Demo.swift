internal import Dictionaries
internal import Foundation
internal import HTTP
internal import Proxy
internal import Storage

/// An API that changes, Dictum in front of it, and a client that fetches one version after another.
struct Demo {
    private let versions: DemoVersions
    private let origin: LocalServer<DemoApplication>
    private let service: ProxyService
    let proxyURL: String
    var adminURL: String { service.server.adminURL ?? "" }

    private static let freePort = "127.0.0.1:0"

    /// Starts the API and the proxy.
    ///
    /// Without an address the proxy uses the default addresses, metrics included. In place of one that is taken it
    /// uses a free port. With an address the metrics are at a free port: the demo at the default one may run, too.
    init(_ versions: DemoVersions, listen: String?) throws {
        self.versions = versions
        origin = try LocalServer("dictum.demo", at: [("127.0.0.1", 0)]) { core in
            DemoApplication(versions: versions, core: core)
        }
        service = try Self.startProxy(before: origin.endpoints[0], listen: listen)
        guard let endpoint = service.server.endpoints.first else {
            throw CommandError("the proxy listens nowhere; give --listen HOST:PORT")
        }
        proxyURL = endpoint.urlText
    }

    private static func startProxy(before origin: Endpoint, listen: String?) throws -> ProxyService {
        var (proxy, admin) = (listen, listen == nil ? nil : freePort)
        while true {
            let wanted = try configuration(origin, listen: proxy, admin: admin)
            do throws(StartError) {
                return try ProxyService(wanted, accessLog: false)
            } catch {
                guard case .cannotListen(let address, _) = error else { throw error }
                let isAdmin = address == wanted.admin?.address.description
                // An address that was given has no other in its place, and a free port is not taken.
                guard (isAdmin ? admin : proxy) == nil else { throw error }
                if isAdmin { admin = freePort } else { proxy = freePort }
                StandardError.write(
                    "dictum: \(address) is in use; the demo listens on another port\(isAdmin ? " for metrics" : " (--listen chooses one)")"
                )
            }
        }
    }

    private static func configuration(
        _ origin: Endpoint, listen: String?, admin: String?
    ) throws(CommandError) -> Configuration {
        do throws(ConfigurationError) {
            var configuration = try Configuration.implied(
                upstream: origin.urlText, listen: listen, store: ":memory:")
            if let address = admin.flatMap(ConfiguredAddress.init) {
                configuration.admin = .init(address: address)
            }
            // Only the table should appear.
            configuration.log.level = .warning
            // Every machine has enough descriptors for these.
            configuration.limits.connections = 100
            return configuration
        } catch {
            throw CommandError(error.lines(file: "command line").joined(separator: "; "))
        }
    }

    var feedURL: String { proxyURL + DemoApplication.path }

    /// Fetches one version after another and prints the cost of each; throws if a body differs from the API's.
    ///
    /// Returns false if a signal ends it early: large files take minutes.
    func printTable() throws -> Bool {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "dictum-demo-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let fetcher = try Fetcher(store: FetchStore(directory: folder.path))
        let url = try FetchURL(feedURL)
        var table = DemoTable()
        try StandardOutput.write(DemoTable.title)
        for number in 0..<versions.shownCount {
            let body = try versions.body(number)
            origin.execute { $0.show(number, body) }
            let fetched = try fetcher.fetch(url)
            guard fetched.body == body else {
                throw CommandError(
                    "the body of fetch \(number + 1) differs from the API's; please report this")
            }
            let row = DemoTable.Row(
                coding: fetched.report.coding, bodyBytes: body.count,
                gzipBytes: try Codec.encode(body.span, .gzip).count, wireBytes: fetched.report.wireBytes)
            try StandardOutput.write(table.add(row))
            if Signals.hasEnd(withinNanoseconds: 0) { return false }
        }
        try StandardOutput.write(table.total)
        if let summary = table.summary { try StandardOutput.write("\n" + summary) }
        return true
    }

    /// Changes the feed every few seconds from now on.
    func keepChanging() { origin.execute { $0.keepChanging() } }

    /// Stops the proxy and the API; blocks until they have stopped.
    func stop() {
        service.stop()
        origin.stop()
    }
}

/// The demo's texts around its table.
enum DemoText {
    static func introduction(proxy: String, admin: String) -> String {
        """
        Dictum listens on \(proxy), in front of an API whose response changes a little each time.
        A client fetches it repeatedly. The first response is compressed as usual, and the client keeps it.
        From then on, it names the body it holds and gets only the difference: dcz, Zstandard over a dictionary (RFC 9842).
        The admin page is at \(admin), with the metrics at \(admin)metrics.

        """
    }

    /// The commands to try while the demo keeps running; each can be pasted as it is.
    static func nextSteps(feed: String, program: String) -> String {
        """

        The demo keeps running, and the feed changes every 5 seconds. Try it from another terminal:

        # 1. Fetch the feed, and keep its body and the id of the dictionary
        curl -s \(feed) -o dictum-old.json -D dictum-head.txt
        id=$(grep -o 'id="[^"]*"' dictum-head.txt | cut -d '"' -f 2)

        # 2. After 5 seconds, send the digest of the body and the id: only the difference comes back
        curl -s \(feed) -o dictum-delta.dcz -H 'Accept-Encoding: dcz' -H "Dictionary-ID: \\"$id\\"" \
        -H "Available-Dictionary: :$(openssl dgst -sha256 -binary dictum-old.json | base64):"

        # 3. Build the new feed from the old one and the difference
        zstd -q -d -D dictum-old.json < dictum-delta.dcz > dictum-new.json
        wc -c dictum-old.json dictum-delta.dcz dictum-new.json

        # A client that does all of this: run it twice
        \(program) fetch \(feed) -o dictum-new.json

        Ctrl-C ends the demo. Then put Dictum in front of your own API:

        \(program) serve --upstream http://your-api
        """
    }
}

/// The demo's table: one aligned row per fetch.
struct DemoTable {
    struct Row {
        let coding: String
        let bodyBytes: Int
        let gzipBytes: Int
        let wireBytes: Int
    }

    private static let widths = [5, 8, 12, 14, 12, 7]
    private(set) var rows: [Row] = []

    static let title = line(["fetch", "coding", "body", "gzip would be", "on the wire", "saved"])

    mutating func add(_ row: Row) -> String {
        rows.append(row)
        return Self.line([String(rows.count), row.coding] + Self.numbers(row))
    }

    /// The totals, below a rule.
    var total: String {
        let sum = Row(
            coding: "", bodyBytes: rows.reduce(0) { $0 + $1.bodyBytes },
            gzipBytes: rows.reduce(0) { $0 + $1.gzipBytes }, wireBytes: rows.reduce(0) { $0 + $1.wireBytes })
        let rule = Self.line(Self.widths.map { String(repeating: "-", count: $0) })
        return rule + "\n" + Self.line(["all", ""] + Self.numbers(sum))
    }

    /// A sentence that compares fetches that had a dictionary with gzip; nil if they took more than half of
    /// gzip's bytes.
    var summary: String? {
        let deltas = rows.filter { ContentCoding(rawValue: $0.coding)?.usesDictionary == true }
        let wire = deltas.reduce(0) { $0 + $1.wireBytes }
        let gzip = deltas.reduce(0) { $0 + $1.gzipBytes }
        guard wire > 0, gzip >= 2 * wire else { return nil }
        return
            "With a dictionary, a fetch took \(OutputFormat.grouped(gzip / wire)) times fewer bytes than with gzip."
    }

    private static func numbers(_ row: Row) -> [String] {
        let saved = FetchReport.percentText(body: row.bodyBytes, wire: row.wireBytes)
        return [row.bodyBytes, row.gzipBytes, row.wireBytes].map(OutputFormat.grouped) + [saved]
    }

    /// Aligns the second column, a word, to the left and the numbers to the right.
    private static func line(_ cells: [String]) -> String {
        zip(cells, widths).enumerated().map { index, cell in
            let blanks = String(repeating: " ", count: max(0, cell.1 - cell.0.count))
            return index == 1 ? " \(cell.0)\(blanks)" : blanks + cell.0
        }
        .joined(separator: " ")
    }
}
