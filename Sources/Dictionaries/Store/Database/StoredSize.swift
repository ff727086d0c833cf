/// What a version takes in the database, estimated from above.
enum StoredSize {
    /// The longest URL and variant together that are kept: they stay in memory as long as the version does.
    static let namesMax = 4096
    /// What the rows of a version and their indexes take beside its names.
    private static let rowBytes = 768

    /// Body and rows; the names are in a table and in an index.
    static func bytes(body: Int, names: Int) -> Int {
        body + rowBytes + 2 * names
    }

    /// The bytes of the texts that name a version.
    static func names(chain: ChainKey, url: String, variant: String) -> Int {
        chain.match.utf8.count + url.utf8.count + variant.utf8.count
    }
}
