// The names of versions within a scope: public versions keep theirs, private ones get unreadable ones.

extension ChainKey.Scope {
    /// Returns the name of a body with this digest; private bodies without keys keep a name that is never
    /// stored.
    func name(of digest: Digest, _ keys: StoreKeys?) -> Digest {
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
        guard scope.isPrivate else { return self }
        return VersionFacts(
            digest: scope.name(of: digest, keys), url: scope.name(of: url, as: .url, keys),
            variant: scope.name(of: variant, as: .variant, keys),
            etag: etag.map { scope.name(of: $0, as: .entityTag, keys) }, contentType: contentType,
            bytes: bytes, maxAge: maxAge, isUpstreamMatch: isUpstreamMatch)
    }
}

extension Version {
    /// True if a body with this digest is that of the version.
    func isBody(_ digest: Digest, _ keys: StoreKeys?) -> Bool {
        guard case .personal = chain.scope else { return chain.scope.name(of: digest, keys) == self.digest }
        return keys?.personalChain(
            authority: chain.authority, match: chain.match, matchDest: chain.matchDest, digest: digest)
            == chain
    }
}
