internal import Dictionaries
internal import Proxy

/// A store that a command works on, and the configuration it came from, if there is one.
struct OpenedStore {
    let catalog: StoreCatalog
    let configuration: Configuration?

    /// Whether a route of the configuration would make a version; nil where there is no configuration.
    var isCurrent: ((Version) -> Bool)? {
        configuration.map { CurrentRoutes($0).makes }
    }

    /// The versions whose digest is meant.
    func versions(_ digest: DigestArgument) throws -> [Version] {
        let found = try catalog.versions().filter { digest.names($0.digest) }
        let digests = Set(found.map(\.digest.hex)).sorted()
        guard !digests.isEmpty else {
            throw StoreFailure(
                "no version in \(catalog.path) has a digest \(digest.text); `dictum store list --versions` shows all"
            )
        }
        guard digests.count == 1 else {
            throw StoreFailure(
                "\(digest.text) is the beginning of \(digests.count) digests, give more of it: "
                    + digests.prefix(8).joined(separator: ", ") + (digests.count > 8 ? ", …" : ""))
        }
        return found
    }
}
