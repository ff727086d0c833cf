/// The name of a stored body: its digest within one scope.
///
/// Bodies of different scopes never share a name, in memory or on disk. In a private scope the digest is
/// replaced by its name under `StoreKeys`.
struct BodyName: Hashable, Sendable {
    let scope: ChainKey.Scope
    let digest: Digest
}
