internal import Dictionaries
internal import Storage
internal import TestSupport
internal import Testing

@testable import Proxy

/// The document of the admin page; `EndToEndTests/AdminPageTests` opens it in a browser.
@Suite(.timeLimit(.minutes(40))) struct AdminPageDocumentTests {
    private static let script = String(decoding: PackageResources.admin_js, as: UTF8.self)

    @Test func `the page is open under every name, since it shows nothing by itself`() throws {
        let proxy = try TestProxy(json([]), #"admin: {token: "0123456789abcdef"}"#)
        for host in ["localhost", "node7.test", "attacker.test"] {
            let page = try proxy.admin("GET / HTTP/1.1", "Host: \(host)")
            #expect(page.status == 200)
            #expect(page["Content-Type"] == "text/html; charset=utf-8")
            #expect(!page.text.contains(DictumVersion.text))
        }
    }

    @Test func `its policy allows the style and the script inside, and nothing else`() throws {
        let page = try TestProxy(json([])).admin("GET / HTTP/1.1", "Host: localhost")
        let policy = try #require(page["Content-Security-Policy"])
        func inside(_ tag: String) throws -> [String] {
            let parts = page.text.components(between: "<\(tag)>", and: "</\(tag)>")
            try #require(parts.count == 1)
            return parts
        }
        for (tag, directive) in [("style", "style-src"), ("script", "script-src")] {
            let hash = Digest(of: Array(try inside(tag)[0].utf8).span).base64
            #expect(policy.contains("\(directive) 'sha256-\(hash)';"))
        }
        #expect(policy.hasPrefix("default-src 'none'; connect-src 'self';"))
        for word in ["unsafe", "http:", "https:", "*"] { #expect(!policy.contains(word)) }
        for directive in ["frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'"] {
            #expect(policy.contains(directive))
        }
        for outside in ["src=", "@import", "url(", "<link rel=\"stylesheet\""] {
            #expect(!page.text.contains(outside), "\(outside)")
        }
    }

    @Test func `the script writes no HTML and evaluates no text`() {
        for word in [
            "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function(", "</",
        ] {
            #expect(!Self.script.contains(word), "\(word)")
        }
    }

    @Test func `the page explains every reason`() {
        for reason in Reason.allCases.map(\.text) + ["none"] {
            #expect(Self.script.contains("\n  \"\(reason)\": \""), "\(reason)")
        }
    }
}

extension String {
    /// Returns the texts between two others.
    fileprivate func components(between start: String, and end: String) -> [String] {
        ranges(of: start).compactMap { range in
            self[range.upperBound...].firstRange(of: end).map {
                String(self[range.upperBound..<$0.lowerBound])
            }
        }
    }
}
