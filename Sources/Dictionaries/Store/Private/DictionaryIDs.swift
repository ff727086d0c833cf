internal import Primitives

/// The ids that prove that a client was given a dictionary (RFC 9842 section 2.1.3).
///
/// An id is derived from the body's digest and its chain under a key that stays in the store's process. It is
/// derived again whenever it is needed and never stored. Two processes on one store derive the same id, and
/// no client can guess one.
extension StoreKeys {
    /// Returns the `id` of a body in a chain that is not public: 128 bits in base64url.
    package func dictionaryID(of digest: Digest, in chain: ChainKey) -> String {
        var message = LengthPrefixed("dictionary id")
        message.append(digest.bytes)
        message.append(chain.scope.tag?.bytes ?? [])
        message.append(chain.authority)
        message.append(chain.match)
        for destination in chain.matchDest { message.append(destination) }
        return Base64.encodeURL(Array(ids.code(of: message.bytes).prefix(Self.idBytes)))
    }

    /// Returns the chain of a personal response: the chain of one body, for clients that were given exactly
    /// these bytes.
    ///
    /// The match is part of the tag, so that the same bytes of another resource have another chain.
    package func personalChain(
        authority: String, match: String, matchDest: [String], digest: Digest
    ) -> ChainKey? {
        var message = LengthPrefixed("capability")
        message.append(digest.bytes)
        message.append(authority)
        message.append(match)
        for destination in matchDest { message.append(destination) }
        return IdentityTag(bytes: identities.code(of: message.bytes)).map {
            ChainKey(authority: authority, scope: .personal($0), match: match, matchDest: matchDest)
        }
    }

    /// Makes a chain with a unique name, for a personal response whose body is not complete yet.
    package func provisionalChain(authority: String, match: String, matchDest: [String]) -> ChainKey? {
        guard let bytes = try? RandomBytes.make(Digest.byteCount), let tag = IdentityTag(bytes: bytes) else {
            return nil
        }
        return ChainKey(authority: authority, scope: .personal(tag), match: match, matchDest: matchDest)
    }

    /// Makes the id of a body that is not complete yet: 128 random bits, for `PromisedIDs`.
    package func makeRandomID() -> String? {
        (try? RandomBytes.make(Self.idBytes)).map(Base64.encodeURL)
    }

    private static let idBytes = 16

    /// Compares the id that a client sent with the right one, in a time that depends on the length alone.
    package static func areEqual(_ sent: String, _ right: String) -> Bool {
        guard sent.utf8.count == right.utf8.count else { return false }
        return zip(sent.utf8, right.utf8).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

/// The ids of bodies that were offered before they were complete, when no digest was known to derive an id
/// from.
///
/// They are kept in memory only, within a bound. After a restart, or once newer ids displaced one, its client
/// gets one complete response. Safe from any thread.
package final class PromisedIDs: Sendable {
    /// The body that an id was given for.
    private struct Promise {
        let digest: Digest
        let chain: ChainKey
    }

    private let promises: Guarded<RecencyMap<String, Promise>>

    /// Makes a table of at most `bytesMax` bytes.
    package init(bytesMax: Int = 4 << 20) {
        promises = Guarded(RecencyMap(bytesMax: bytesMax))
    }

    /// Records the digest of a promised body, now that the body is complete.
    package func keep(_ id: String, for digest: Digest, in chain: ChainKey) {
        let bytes = id.utf8.count + chain.authority.utf8.count + chain.match.utf8.count
        _ = promises.withLock { $0.insert(Promise(digest: digest, chain: chain), bytes: bytes, for: id) }
    }

    /// Returns the chain in which a client was given this body under this id.
    ///
    /// The table finds an id as a whole by a keyed hash, so the response time reveals nothing about other
    /// ids.
    package func chain(of digest: Digest, id: String) -> ChainKey? {
        guard let promise = promises.withLock({ $0.value(id) }), promise.digest == digest else { return nil }
        return promise.chain
    }
}
