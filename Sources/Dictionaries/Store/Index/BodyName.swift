/// What a stored body is found by: its digest, within one scope.
///
/// The scope is part of the name so that bodies of different scopes are never one, in memory or on disk. In a private
/// one the digest is what `StoreKeys` calls it there.
struct BodyName: Hashable, Sendable {
    let scope: ChainKey.Scope
    let digest: Digest
}
