internal import Dictionaries
internal import Primitives
internal import TestSupport
internal import Testing

/// Tests Chromium with POST: one URL, and the operation in the query.
@Suite(.serialized, .enabled(if: Chromium.program != nil, Chromium.absence), .timeLimit(.minutes(40)))
struct BrowserOperationTests {
    private static let operations = ["Feed", "Profile", "Search"]

    private static let page = BrowserPage.html(
        """
        const fetches = [];
        const names = ["Feed", "Profile", "Search"];
        const deltas = (name) => fetches.filter(
            (fetch) => fetch.url.endsWith(name) && fetch.encodedBytes * 20 < fetch.decodedBytes).length;
        for (let round = 0; round < 40 && names.some((name) => deltas(name) < 3); round++) {
            for (const name of names) {
                const body = JSON.stringify({operationName: name, query: "query " + name + " { x }"});
                const headers = {"Content-Type": "application/json", "Authorization": "Bearer ann"};
                fetches.push(await get("/graphql?op=" + name, {method: "POST", headers, body}));
            }
            await pause(50);
        }
        await report({fetches});
        """)

    private static func bytes(_ operation: Int, _ version: Int) -> [UInt8] {
        Feed.bytes(version: 1000 * operation + version, items: 300)
    }

    @Test(arguments: ["dcz", "dcb"])
    func `each operation of one URL gets deltas over its own responses`(coding: String) throws {
        let versions = Guarded([0, 0, 0])
        let settings = """
            compression: {codings: [\(coding), gzip]}
            routes: [{match: /graphql, dictionary: {methods: [GET, QUERY, POST], key: [op]}}]
            """
        let visit = try BrowserVisit(isTLS: true, settings) { target in
            if target == "/" { return BrowserPage.answer(Self.page) }
            guard let operation = Self.operations.firstIndex(where: { target == "/graphql?op=\($0)" }) else {
                return nil
            }
            let version = versions.withLock { versions in
                versions[operation] += 1
                return versions[operation]
            }
            return wire(
                "HTTP/1.1 200 OK", "Content-Type: application/json", "Cache-Control: private, max-age=600",
                body: Self.bytes(operation, version))
        }
        try visit.open("/")
        let fetches = try #require(try visit.reports().first).fetches
        for (operation, name) in Self.operations.enumerated() {
            let own = fetches.filter { $0.url.hasSuffix("op=\(name)") }
            let bodies = (1...max(1, own.count)).map { Body(Self.bytes(operation, $0)).digest.hex }
            #expect(own.map(\.sha256) == bodies, "the upstream sees every request, and each body is its own")
            BrowserVisit.expectDeltas(coding, in: own)
        }
    }
}
