/// The name of a chain: the versions of one covered resource, for one authority and one scope.
///
/// The exact `match` and `match-dest` that are sent name the chain, because a client keeps one dictionary per
/// pair of them (RFC 9842 section 2.1), and the authority does, because a dictionary is same-origin only
/// (section 9.3.1). A private chain is one identity's alone.
package struct ChainKey: Hashable, Sendable {
    /// Who may be served from a chain; nothing is ever shared between two scopes.
    package enum Scope: Hashable, Sendable {
        /// Everybody.
        case `public`
        /// Clients that were given a version, by its id; kept as public ones are.
        case unlisted
        /// One identity's own; sealed on disk.
        case `private`(IdentityTag)
        /// Clients that were given one personal body, by its id; sealed on disk. The tag is made of the body.
        case personal(IdentityTag)

        /// Whose it is; nil where it is nobody's own.
        var tag: IdentityTag? {
            switch self {
            case .private(let tag), .personal(let tag): tag
            case .public, .unlisted: nil
            }
        }

        /// Whether it is somebody's own.
        package var isPrivate: Bool { tag != nil }
    }

    /// Host and, unless it is the scheme's own, port; lower-case.
    package let authority: String
    package let scope: Scope
    /// The `match` member as sent, before structured-field escaping.
    package let match: String
    /// The `match-dest` member as sent.
    package let matchDest: [String]
    /// The hash of all that: a request looks its chain up several times.
    private let hash: Int

    /// Names a chain; the authority must already be lower-case.
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

    /// What it takes beside itself, the compiled `match` included.
    var nameBytes: Int { authority.utf8.count + 2 * match.utf8.count }

    /// Hashes what was hashed before.
    package func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}
