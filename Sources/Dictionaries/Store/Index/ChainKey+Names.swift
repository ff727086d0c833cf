// What versions are called within a scope: public ones by what they are, private ones so that nothing can be read.

extension ChainKey.Scope {
    /// What a body of this digest is called; private ones without keys by nothing that is ever stored.
    func name(of digest: Digest, _ keys: StoreKeys?) -> Digest {
        // The chain of one body needs no second name for it.
        if case .personal(let tag) = self { return tag.code }
        guard let tag, let keys else { return digest }
        return keys.name(of: digest, tag)
    }

    /// What a URL, a variant or an entity tag is called.
    ///
    /// URL and variant do not count in the chain of one body: whoever was given it holds it, whatever the request was.
    func name(of text: String, as label: StoreKeys.Label, _ keys: StoreKeys?) -> String {
        guard let tag, let keys else { return text }
        guard case .personal = self else { return keys.name(of: text, as: label, tag) }
        // There may be a million of them: 128 bits do.
        return label == .entityTag ? String(keys.name(of: text, as: label, tag).prefix(22)) : ""
    }
}

extension VersionFacts {
    /// The same facts by their names in a scope.
    ///
    /// Who chose the match is not noted of private ones: no path tells which route would make them.
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
