package import Dictionaries
internal import Primitives

/// The ids that prove that a client was given a dictionary (RFC 9842 section 2.1.3).
///
/// An id is derived from the body's digest and its chain under a key that stays in the store's process. It is
/// derived again whenever it is needed and never stored. Two processes on one store derive the same id, and
/// no client can guess one. Only an id that goes out before its body is complete is random; see `PromisedIDs`.
extension StoreKeys {
    /// Returns the `id` of a body in a chain that is not public: 128 bits in base64url.
    package func dictionaryID(of digest: Digest, in chain: ChainKey) -> String {
        let message = message("dictionary id", digest, chain)
        return Base64.encodeURL(Array(ids.code(of: message.bytes).prefix(Self.idBytes)))
    }

    /// Returns the tag of a random id that a client was given with a body of a chain; nil for a text that is no such id.
    ///
    /// Body and chain are part of the tag, so that no row and no message can say that an id was given with another body.
    package func promisedTag(of id: String, _ digest: Digest, in chain: ChainKey) -> PromisedTag? {
        guard id.utf8.count == Self.idCharacters else { return nil }
        var message = message("promised id", digest, chain)
        message.append(id)
        return PromisedTag(bytes: ids.code(of: message.bytes).prefix(PromisedTag.byteCount))
    }

    private func message(_ label: String, _ digest: Digest, _ chain: ChainKey) -> LengthPrefixed {
        LengthPrefixed(label, digest.bytes, chain.scope.tag?.bytes ?? [], chain: chain)
    }

    /// Returns the chain of a personal response: the chain of one body, for clients that were given exactly
    /// these bytes.
    ///
    /// The match is part of the tag, so that the same bytes of another resource have another chain.
    ///
    /// - Parameter resource: A chain of the same resource, for whichever clients.
    package func personalChain(of digest: Digest, like resource: ChainKey) -> ChainKey? {
        let message = LengthPrefixed("capability", digest.bytes, chain: resource)
        return IdentityTag(bytes: identities.code(of: message.bytes)).map { resource.with(.personal($0)) }
    }

    /// Makes a chain with a unique name, for a personal response whose body is not complete yet.
    package func provisionalChain(like resource: ChainKey) -> ChainKey? {
        (try? RandomBytes.make(Digest.byteCount)).flatMap { IdentityTag(bytes: $0) }
            .map { resource.with(.personal($0)) }
    }

    /// Makes the id of a body that is not complete yet: 128 random bits, for `PromisedIDs`.
    package func makeRandomID() -> String? {
        (try? RandomBytes.make(Self.idBytes)).map(Base64.encodeURL)
    }

    private static let idBytes = 16
    /// The length of an id in base64url.
    private static let idCharacters = 22

    /// Compares the id that a client sent with the right one, in a time that depends on the length alone.
    package static func areEqual(_ sent: String, _ right: String) -> Bool {
        guard sent.utf8.count == right.utf8.count else { return false }
        return zip(sent.utf8, right.utf8).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
