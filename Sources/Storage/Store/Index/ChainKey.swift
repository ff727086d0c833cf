internal import Dictionaries
internal import Primitives

/// The key of a chain: the versions of one covered resource, for one authority and one scope.
///
/// The key contains the exact `match` and `match-dest` as sent, because a client keeps one dictionary per
/// pair of them (RFC 9842 section 2.1). It contains the authority, because a dictionary is same-origin only
/// (section 9.3.1). A private chain belongs to one identity.
package struct ChainKey: Hashable, Sendable {
    /// The clients that may be served from a chain; nothing is ever shared between two scopes.
    package enum Scope: Hashable, Sendable {
        /// All clients.
        case `public`
        /// Clients that were given the id of a version; stored as public chains are.
        case unlisted
        /// One identity; sealed on disk.
        case `private`(IdentityTag)
        /// Clients that were given the id of one personal body; sealed on disk.
        ///
        /// The tag is derived from the body.
        case personal(IdentityTag)

        /// The tag of the owner; nil if the chain has none.
        var tag: IdentityTag? {
            switch self {
            case .private(let tag), .personal(let tag): tag
            case .public, .unlisted: nil
            }
        }

        /// True if the chain is found by a tag alone: that of an identity, or of a body.
        package var isSealed: Bool { tag != nil }
    }

    /// The host, and the port if it is not the scheme's default; lower-case.
    package let authority: String
    package let scope: Scope
    /// The `match` member as sent, before structured-field escaping.
    package let match: String
    /// The `match-dest` member as sent.
    package let matchDest: [String]
    /// The precomputed hash of all members: a request looks its chain up several times.
    private let hash: Int

    /// Makes a key; the authority must already be lower-case.
    package init(authority: String, scope: Scope = .public, match: String, matchDest: [String] = []) {
        self.authority = authority
        self.scope = scope
        self.match = match
        self.matchDest = matchDest
        var hasher = Hasher()
        hasher.combine(authority)
        hasher.combine(scope)
        hasher.combine(match)
        hasher.combine(matchDest)
        hash = hasher.finalize()
    }

    /// Returns the key of the same resource for other clients.
    func with(_ scope: Scope) -> ChainKey {
        ChainKey(authority: authority, scope: scope, match: match, matchDest: matchDest)
    }

    /// The bytes of its texts, including the compiled `match`.
    var nameBytes: Int { authority.utf8.count + 2 * match.utf8.count }
    /// The same, with `match-dest`.
    var textBytes: Int { matchDest.reduce(nameBytes) { $0 + $1.utf8.count } }

    package func hash(into hasher: inout Hasher) { hasher.combine(hash) }

    /// The name of the chain in the path of a linked dictionary: the first half of a SHA-256, in base64url.
    ///
    /// The hash covers the length of every part, so that no two chains hash the same text. The name reveals
    /// nothing about the chain; only public chains are ever named.
    package var name: String {
        var text = ""
        for part in [authority, match] + matchDest { text += "\(part.utf8.count):\(part)" }
        return Base64.encodeURL(Array(Digest(of: text.utf8.span).bytes.prefix(16)))
    }
}

/// The owner of a private chain in unreadable form: an HMAC-SHA256 of the identity, or of a personal body,
/// under the store's key.
package struct IdentityTag: Hashable, Sendable {
    /// The 32 bytes, stored inline as a digest is.
    let code: Digest

    init(code: Digest) { self.code = code }

    /// Makes a tag of exactly 32 bytes; nil for any other number.
    init?(bytes: [UInt8]) {
        guard let code = Digest(bytes: bytes) else { return nil }
        self.code = code
    }

    var bytes: [UInt8] { code.bytes }
}

extension ChainKey.Scope {
    /// The word for the kind of the scope, on disk and in the names and records that nodes share.
    var kind: String {
        switch self {
        case .public: "public"
        case .unlisted: "unlisted"
        case .private: "private"
        case .personal: "personal"
        }
    }

    /// Makes the scope of a kind; nil if kind and tag do not belong together.
    init?(kind: String, tag: IdentityTag?) {
        switch (kind, tag) {
        case ("public", nil): self = .public
        case ("unlisted", nil): self = .unlisted
        case ("private", let tag?): self = .private(tag)
        case ("personal", let tag?): self = .personal(tag)
        default: return nil
        }
    }
}
