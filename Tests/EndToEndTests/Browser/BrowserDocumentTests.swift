internal import Dictionaries
internal import Foundation
internal import Primitives
internal import TestSupport
internal import Testing

/// Tests documents and their subresources in a real Chromium.
@Suite(.serialized, .enabled(if: Chromium.program != nil, Chromium.absence), .timeLimit(.minutes(40)))
struct BrowserDocumentTests {
    // MARK: Link

    /// A document that reports itself, and opens the next one once `/go` says that there are more.
    private static func document(_ version: Int) -> [UInt8] {
        BrowserPage.html(
            """
            const entry = performance.getEntriesByType("navigation")[0];
            const fetches = [measured(entry, await cached(location.href))];
            const more = isMoreWanted(fetches);
            await report({fetches, more});
            while (await (await fetch("/go")).text() !== "go") await pause(20);
            if (more) location.href = "/docs/\(version + 1)";
            """,
            body: "<pre>" + String(decoding: Feed.bytes(version: version, items: 200), as: UTF8.self)
                + "</pre>")
    }

    @Test func `a document's Link leads to a dictionary that later documents come over`() throws {
        let mayGo = Guarded(false)
        let visit = try BrowserVisit(
            isTLS: true,
            #"routes: [{match: "/docs/*", dictionary: {covers: pattern}}, {match: "/*", dictionary: off}]"#
        ) { target in
            if target == "/go" {
                let text = mayGo.withLock { $0 } ? "go" : "wait"
                return wire(
                    "HTTP/1.1 200 OK", "Content-Type: text/plain", "Cache-Control: no-store",
                    body: Array(text.utf8))
            }
            guard let version = target.wholeMatch(of: /\/docs\/([0-9]+)/).flatMap({ Int($0.output.1) }) else {
                return nil
            }
            // No browser keeps this one as a dictionary, so that Dictum names one that has its own life: the first of all,
            // which three clients got alike.
            return wire(
                "HTTP/1.1 200 OK", "Content-Type: text/html", "Cache-Control: public, no-cache",
                body: Self.document(version))
        }
        try visit.proxy.prove("/docs/0", host: "localhost")
        try visit.open("/docs/1")
        // The browser fetches the dictionary when it is idle.
        _ = try visit.proxy.process.waitFor("/.dictum/")
        mayGo.withLock { $0 = true }
        let fetches = try visit.reports().flatMap(\.fetches)
        #expect(fetches.map(\.sha256) == (1...fetches.count).map { Body(Self.document($0)).digest.hex })
        BrowserVisit.expectDeltas("dcz", in: fetches)
        #expect(!visit.proxy.origin.requests.contains { $0.target.hasPrefix("/.dictum/") })
    }

    // MARK: Scripts

    /// A script as it is in a deploy.
    private static func script(_ target: String) -> [UInt8] {
        let match = target.wholeMatch(of: /\/app\/([a-z]+)\.([0-9]+)\.js/)
        let seed = match?.output.1 == "vendor" ? 100 : 1
        let version = match.flatMap { Int($0.output.2) } ?? 0
        return Array("const \(match?.output.1 ?? "")Data = ".utf8)
            + Feed.bytes(version: seed + version, items: 200) + Array(";\n".utf8)
    }

    /// The page of a deploy, which loads its scripts and then opens the page of the next deploy.
    private static func deploy(_ number: Int, scripts: [String]) -> [UInt8] {
        let targets = scripts.map { "/app/\($0).\(number).js" }
        return BrowserPage.html(
            """
            const fetches = [];
            for (const target of \(targets)) {
                const url = new URL(target, location).href;
                fetches.push(measured(performance.getEntriesByName(url)[0], await cached(url)));
            }
            const more = isMoreWanted(fetches);
            await report({fetches, more});
            if (more) location.href = "/deploy/\(number + 1)";
            """, head: targets.map { "<script src=\"\($0)\"></script>" }.joined())
    }

    @Test(arguments: [
        // With one pattern the newest script is the dictionary for all scripts; with a template each has its own.
        (["main"], #"{match: "/app/*.js", dictionary: {covers: pattern, match_dest: [script]}}"#),
        (["main", "vendor"], #"{match: "/app/:name.:hash.js", dictionary: {covers: "/app/<name>.*.js"}}"#),
    ])
    func `a deploy's scripts come as deltas over those of the deploy before`(scripts: [String], route: String)
        throws
    {
        let visit = try BrowserVisit(isTLS: false, "routes: [\(route)]") { target in
            if let number = target.wholeMatch(of: /\/deploy\/([0-9]+)/).flatMap({ Int($0.output.1) }) {
                return BrowserPage.answer(Self.deploy(number, scripts: scripts))
            }
            guard target.hasPrefix("/app/") else { return nil }
            return wire(
                "HTTP/1.1 200 OK", "Content-Type: text/javascript",
                "Cache-Control: public, max-age=31536000, immutable", body: Self.script(target))
        }
        try visit.open("/deploy/1")
        let deploys = try visit.reports().map(\.fetches)
        for (number, fetches) in zip(1..., deploys) {
            let bodies = scripts.map { Self.script("/app/\($0).\(number).js") }
            #expect(fetches.map(\.sha256) == bodies.map { Body($0).digest.hex })
        }
        for index in scripts.indices { BrowserVisit.expectDeltas("dcz", in: deploys.map { $0[index] }) }
    }
}
