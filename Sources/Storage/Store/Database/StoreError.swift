/// A reason to refuse a store; every other failure is a `OperatorEvent`, and the store continues.
package enum StoreError: Error, Equatable, CustomStringConvertible {
    /// A later Dictum made the file; this one would lose data that it does not know.
    case newerSchema(path: String, found: Int, supported: Int)
    /// An earlier Dictum made the file; only a proxy migrates it.
    case olderSchema(path: String, found: Int, needed: Int)
    /// The file is a database of another program.
    case foreignDatabase(path: String)
    /// The key of private and personal dictionaries is missing or invalid; the text says what to do.
    case key(path: String, String)

    package var description: String {
        switch self {
        case .newerSchema(let path, let found, let supported):
            "the store \(path) has schema \(found), this version knows up to \(supported): "
                + "run the newer dictum, or name another store.path"
        case .olderSchema(let path, let found, let needed):
            "the store \(path) has schema \(found), this version works on \(needed): start its proxy, which "
                + "migrates it, or use the older dictum"
        case .foreignDatabase(let path):
            "\(path) is a database of another program: name another store.path"
        case .key(let path, let why):
            "the key file \(path) \(why)"
        }
    }
}
