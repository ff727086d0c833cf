/// A reason why a command on a store failed.
package enum StoreCatalogError: Error, CustomStringConvertible {
    /// The store is in the memory of a proxy.
    case inMemory
    /// The file is missing.
    case missing(path: String)
    /// The file belongs to another program, or to another version of this one.
    case refused(StoreError)
    /// The file cannot be read.
    case damaged(path: String, reason: String)
    /// The file cannot be used for now.
    case unavailable(path: String, reason: String)

    init(_ error: StoreDatabaseError, path: String) {
        switch error {
        case .refused(let error): self = .refused(error)
        case .damaged(let reason): self = .damaged(path: path, reason: reason)
        case .unavailable(let reason, _), .locked(let reason), .failing(let reason), .rejected(let reason):
            self = .unavailable(path: path, reason: reason)
        }
    }

    package var description: String {
        switch self {
        case .inMemory:
            "the store is :memory:, which is gone with its proxy and cannot be looked into: name a file in store.path"
        case .missing(let path):
            "there is no store at \(path): a proxy makes it when it starts; check store.path, which counts from the "
                + "folder the proxy was started in"
        case .refused(let error): error.description
        case .damaged(let path, let reason):
            "the store \(path) is damaged (\(reason)): a proxy sets it aside when it starts; sqlite3 may recover it"
        case .unavailable(let path, let reason):
            "the store \(path) cannot be used for now: \(reason); check its rights, its disk and who else uses it (`fuser`), and try again"
        }
    }
}
