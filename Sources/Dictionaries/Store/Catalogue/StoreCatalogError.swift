/// Why a command on a store came to nothing.
package enum StoreCatalogError: Error, CustomStringConvertible {
    /// It is in the memory of a proxy.
    case inMemory
    /// There is no such file.
    case missing(path: String)
    /// The file is none of this program's, or of another version of it.
    case refused(StoreError)
    /// The file cannot be read.
    case damaged(path: String, reason: String)
    /// It cannot be used for now.
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
