internal import Dictionaries
internal import Proxy

/// An open store, and its configuration if one was given.
struct OpenedStore {
    let catalogue: StoreCatalogue
    let configuration: Configuration?

    /// Returns true for versions that a configured route would create; nil without a configuration.
    var isCurrent: ((Version) -> Bool)? {
        configuration.map { CurrentRoutes($0).makes }
    }

    /// Returns the versions with a digest; throws if there is none, or if the prefix is ambiguous.
    func versions(_ digest: DigestArgument) throws -> [Version] {
        let found = try catalogue.versions().filter { digest.names($0.digest) }
        let digests = Set(found.map(\.digest.hex)).sorted()
        guard !digests.isEmpty else {
            throw StoreFailure(
                "no version in \(catalog.path) has the digest \(digest.text); `dictum store list --versions` lists all"
            )
        }
        guard digests.count == 1 else {
            throw StoreFailure(
                "\(digest.text) is ambiguous, since \(digests.count) digests begin with it; give more digits: "
                    + digests.prefix(8).joined(separator: ", ") + (digests.count > 8 ? ", …" : ""))
        }
        return found
    }
}
