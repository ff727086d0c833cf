/// A reason to refuse a store; every other failure is a `OperatorEvent`, and the store continues.
package enum StoreError: Error, Equatable, CustomStringConvertible {
    /// Another version of Dictum made the file, with other tables; an empty file has schema 0.
    case otherSchema(path: String, found: Int)
    /// The file is a database of another program.
    case foreignDatabase(path: String)
    /// The path names a file or folder that was never a store.
    case noStore(path: String)
    /// The key of private and personal dictionaries is missing or invalid; the text says what to do.
    case key(path: String, String)

    package var description: String {
        switch self {
        case .otherSchema(let path, let found):
            "the store \(path) has schema \(found), this version works on \(StoreSchema.number): "
                + "run the dictum that made it, or name another store.path"
        case .foreignDatabase(let path):
            "\(path) is a database of another program: name another store.path"
        case .noStore(let path):
            "\(path) is no store of Dictum, and stays as it is: name another store.path, or move it away"
        case .key(let path, let why):
            "the key file \(path) \(why)"
        }
    }
}
