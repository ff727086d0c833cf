/// The bytes of a version in the database, estimated from above.
enum StoredSize {
    /// The greatest length of URL and variant together, which stay in memory as long as the version does.
    static let namesMax = 4096
    /// The bytes of a version's rows and their indexes, without its names.
    private static let rowBytes = 768

    /// Returns the bytes of body and rows; names are stored in a table and in an index.
    static func bytes(body: Int, names: Int) -> Int {
        body + rowBytes + 2 * names
    }

    /// Returns the bytes of the texts that name a version.
    static func names(chain: ChainKey, url: String, variant: String) -> Int {
        chain.match.utf8.count + url.utf8.count + variant.utf8.count
    }
}
