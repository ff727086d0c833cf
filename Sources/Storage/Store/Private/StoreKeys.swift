package import Dictionaries
internal import Primitives

/// The keys of a store, each for one purpose, all derived from the key in `store.key_file`.
///
/// A private row reveals to a reader without the key its size, its times, its media type, and which rows
/// share a chain. It reveals no name, URL, digest or body, nor that two identities have the same body.
package final class StoreKeys: Sendable {
    /// The length of the root key.
    package static let byteCount = 32

    let identities: MessageAuthenticator
    let ids: MessageAuthenticator
    let sharing: MessageAuthenticator
    private let chains: MessageAuthenticator
    private let rows: MessageAuthenticator
    private let seals: MessageAuthenticator

    /// The kind of a text in a version, so that the same text of another kind gets another name.
    enum Label: String {
        case url, variant
        case entityTag = "etag"
    }

    /// Derives the keys; returns nil unless `key` has 32 bytes, which must be random.
    package init?(key: [UInt8]) {
        guard key.count == Self.byteCount else { return nil }
        let root = MessageAuthenticator(key: key)
        // The number is the version of this derivation: another one gives other keys, which find none of
        // these rows.
        identities = MessageAuthenticator(key: root.derivedKey("dictum 1 identities"))
        chains = MessageAuthenticator(key: root.derivedKey("dictum 1 chains"))
        rows = MessageAuthenticator(key: root.derivedKey("dictum 1 rows"))
        seals = MessageAuthenticator(key: root.derivedKey("dictum 1 seals"))
        ids = MessageAuthenticator(key: root.derivedKey("dictum 1 ids"))
        sharing = MessageAuthenticator(key: root.derivedKey("dictum 1 sharing"))
    }

    // MARK: Names

    /// Returns the tag of an identity: everything that tells a user from others, and the authority.
    ///
    /// The caller passes names and values in a fixed order.
    package func identityTag(authority: String, items: [(name: String, value: [UInt8])]) -> IdentityTag? {
        var message = LengthPrefixed("identity")
        message.append(authority)
        for item in items {
            message.append(item.name)
            message.append(item.value)
        }
        return IdentityTag(bytes: identities.code(of: message.bytes))
    }

    /// Returns a number that stands for a client as long as the key stays.
    package func clientNumber(of name: [UInt8]) -> UInt64 {
        BigEndian.number(identities.code(of: LengthPrefixed("client number", name).bytes).prefix(8)) ?? 0
    }

    package func clientNumber(of tag: IdentityTag) -> UInt64 { clientNumber(of: tag.bytes) }

    /// Returns the name of a private chain on disk.
    func name(of chain: ChainKey, _ tag: IdentityTag) -> [UInt8] {
        chains.code(of: LengthPrefixed("chain", tag.bytes, chain: chain).bytes)
    }

    /// Returns the name of a private chain's row on disk; personal chains of one resource share a row.
    func rowName(of chain: ChainKey) -> [UInt8] {
        if case .private(let tag) = chain.scope { return name(of: chain, tag) }
        return chains.code(of: LengthPrefixed("persons", chain: chain).bytes)
    }

    /// Returns the name of a text within the chains of an identity, in memory and on disk.
    ///
    /// Texts are only ever compared.
    func name(of text: String, as label: Label, _ tag: IdentityTag) -> String {
        let message = LengthPrefixed(label.rawValue, tag.bytes, Array(text.utf8))
        return Base64.encodeURL(chains.code(of: message.bytes))
    }

    /// Returns the name of a body within the scope of an identity; its digest may be known to others.
    func name(of digest: Digest, _ tag: IdentityTag) -> Digest {
        let message = LengthPrefixed("row", tag.bytes, digest.bytes)
        guard let name = Digest(bytes: rows.code(of: message.bytes)) else {
            preconditionFailure("a code has 32 bytes")
        }
        return name
    }

    // MARK: Seals

    /// The seal of the names of a chain.
    func seal(ofChain name: [UInt8]) -> Seal { Seal(seals, LengthPrefixed("chain facts", name)) }

    /// The seal of the body of a row.
    func seal(ofRow row: Digest, inChain chain: [UInt8]) -> Seal {
        Seal(seals, LengthPrefixed("body", chain, row.bytes))
    }
}

extension LengthPrefixed {
    /// Begins with a label and parts, and ends with what names a chain within its scope.
    init(_ label: String, _ parts: [UInt8]..., chain: ChainKey) {
        self.init(label)
        for part in parts { append(part) }
        for text in [chain.authority, chain.match] + chain.matchDest { append(text) }
    }
}

// The names of versions within a scope: public versions keep theirs, private ones get unreadable ones.

extension ChainKey.Scope {
    /// Returns the name of a body with this digest; private bodies without keys keep a name that is never
    /// stored.
    package func name(of digest: Digest, _ keys: StoreKeys?) -> Digest {
        // The chain of a single body needs no second name for it.
        if case .personal(let tag) = self { return tag.code }
        guard let tag, let keys else { return digest }
        return keys.name(of: digest, tag)
    }

    /// Returns the name of a URL, a variant or an entity tag.
    ///
    /// The chain of a single body ignores URL and variant: a client that was given the body holds it,
    /// whatever the request was.
    func name(of text: String, as label: StoreKeys.Label, _ keys: StoreKeys?) -> String {
        guard let tag, let keys else { return text }
        guard case .personal = self else { return keys.name(of: text, as: label, tag) }
        // There may be a million of them, and 128 bits suffice.
        return label == .entityTag ? String(keys.name(of: text, as: label, tag).prefix(22)) : ""
    }
}

extension VersionFacts {
    /// Returns the same facts under their names in a scope.
    ///
    /// Private versions do not record who chose the match, because no path reveals which route would make
    /// them.
    func named(in scope: ChainKey.Scope, _ keys: StoreKeys?) -> VersionFacts {
        guard scope.isSealed else { return self }
        var facts = self
        facts.digest = scope.name(of: digest, keys)
        facts.url = scope.name(of: url, as: .url, keys)
        facts.etag = etag.map { scope.name(of: $0, as: .entityTag, keys) }
        facts.traits.variant = scope.name(of: traits.variant, as: .variant, keys)
        return facts
    }
}

extension ChainKey {
    /// Returns the clients that may get deltas made of the bodies of the chain.
    package func deltaScope(_ keys: @autoclosure () -> StoreKeys?) -> DeltaScope {
        guard let tag = scope.tag else { return scope == .unlisted ? .unlisted : .public }
        return .private(chain: keys()?.name(of: self, tag) ?? tag.bytes)
    }

    func isName(_ name: Digest, ofBody digest: Digest, _ keys: StoreKeys?) -> Bool {
        guard case .personal = scope else { return scope.name(of: digest, keys) == name }
        return keys?.personalChain(of: digest, like: self) == self
    }
}
