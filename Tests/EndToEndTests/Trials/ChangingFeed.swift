internal import TestSupport

/// Several API paths with changing responses, whose bodies depend only on the target `/feed/PATH?v=VERSION`.
enum ChangingFeed {
    /// The number of items per path: three small bodies, and one that needs many database pages.
    private static let items = [20, 20, 25, 300]
    private static let common = items.indices.map { Feed.bytes(version: $0, items: items[$0]) }

    /// The numbers of the paths.
    static var paths: Range<Int> { items.indices }

    /// Returns a version: bytes that only it has, then bytes that all versions of the path share.
    static func bytes(path: Int, version: Int) -> [UInt8] {
        var random = SplitMix(seed: UInt64(path) << 32 | UInt64(version))
        let nonce = (0..<4).map { _ in String(random.next(), radix: 16) }.joined()
        return Array(#"{"version":\#(version),"nonce":"\#(nonce)","feed":"#.utf8) + common[path]
            + Array("}".utf8)
    }

    /// Returns the target of a version, whose response is stored unless `isAdmitted` is false.
    static func target(path: Int, version: Int, isAdmitted: Bool = true) -> String {
        "/feed/\(path)?v=\(version)" + (isAdmitted ? "" : "&once")
    }

    /// An upstream that has all of it.
    static func origin() throws -> Origin {
        try Origin { request, connection in
            guard let match = request.target.wholeMatch(of: /\/feed\/([0-9]+)\?v=([0-9]+)(&once)?/),
                let path = Int(match.output.1), let version = Int(match.output.2)
            else {
                connection.send(wire("HTTP/1.1 404 Not Found", body: []))
                return
            }
            let cacheControl = match.output.3 == nil ? "public, max-age=3600" : "no-store"
            connection.send(
                wire(
                    "HTTP/1.1 200 OK", "Content-Type: application/json", "Cache-Control: \(cacheControl)",
                    body: bytes(path: path, version: version)))
        }
    }
}
