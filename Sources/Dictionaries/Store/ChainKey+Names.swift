// What versions are called within a scope: public ones by what they are, private ones so that nothing can be read.

extension ChainKey.Scope {
    /// What a body of this digest is called; private ones without keys by nothing that is ever stored.
    func name(of digest: Digest, _ keys: StoreKeys?) -> Digest {
        guard let tag, let keys else { return digest }
        return keys.name(of: digest, tag)
    }

    /// What a URL, a variant or an entity tag is called.
    func name(of text: String, as label: StoreKeys.Label, _ keys: StoreKeys?) -> String {
        guard let tag, let keys else { return text }
        return keys.name(of: text, as: label, tag)
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
