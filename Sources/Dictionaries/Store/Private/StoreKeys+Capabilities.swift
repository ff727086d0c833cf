/// The ids that prove that a client was given a dictionary (RFC 9842 section 2.1.3).
///
/// An id is made of the body's digest and its chain under a key that never leaves the store's process. So it is made
/// again whenever it is needed and stored nowhere, two processes on one store make the same one, and nobody can guess
/// it who was not given it.
extension StoreKeys {
    /// The `id` of a body in a chain that is not for everybody: 128 bits in base64url.
    package func dictionaryID(of digest: Digest, in chain: ChainKey) -> String {
        var message = LengthPrefixed("dictionary id")
        message.append(digest.bytes)
        message.append(chain.scope.tag?.bytes ?? [])
        message.append(chain.authority)
        message.append(chain.match)
        for destination in chain.matchDest { message.append(destination) }
        return Base64.encodeURL(Array(ids.code(of: message.bytes).prefix(Self.idBytes)))
    }

    /// The chain of a personal response: that of one body, for those who were given exactly these bytes.
    ///
    /// The match is a part of its tag, so that the same bytes of another resource are another chain.
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

    /// A chain that nobody else names, for a personal response whose body has not come whole.
    package func provisionalChain(authority: String, match: String, matchDest: [String]) -> ChainKey? {
        guard let bytes = try? RandomBytes.make(Digest.byteCount), let tag = IdentityTag(bytes: bytes) else {
            return nil
        }
        return ChainKey(authority: authority, scope: .personal(tag), match: match, matchDest: matchDest)
    }

    /// The id of a body that has not come whole: 128 random bits, for `PromisedIDs`.
    package func makeRandomID() -> String? {
        (try? RandomBytes.make(Self.idBytes)).map(Base64.encodeURL)
    }

    private static let idBytes = 16

    /// Compares an id that a client sent with the one that it would have been given, in a time that depends on the length
    /// alone.
    package static func areEqual(_ sent: String, _ right: String) -> Bool {
        guard sent.utf8.count == right.utf8.count else { return false }
        return zip(sent.utf8, right.utf8).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
