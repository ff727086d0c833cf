internal import Dictionaries
internal import HTTP

// MARK: - Conditions that are about bytes of Dictum's

extension Exchange {
    /// Notes the form of the upstream's entity tag.
    func noteTag(of headers: borrowing Headers) {
        headers.forEachValue(of: .etag) { value in
            let isWeak = value.count > 1 && value[0] == UInt8(ascii: "W") && value[1] == UInt8(ascii: "/")
            context.shared.weakTags.note(
                hash { $0.combine(text: value.extracting((isWeak ? 2 : 0)..<value.count)) }, isWeak)
        }
    }

    /// Makes the request's conditions such as the upstream can evaluate.
    func translateConditions(_ headers: inout Headers) {
        // A part of the upstream's bytes must not follow a part of coded ones, so no tag becomes strong.
        if facts.hasRange, request.method.isSafe { return dropRangeByDate(&headers) }
        if headers.contains(.ifMatch) { translateIfMatch(&headers) }
    }

    /// Removes Range from a request that is about the bytes of one date, if the client may hold coded ones of it.
    ///
    /// A change of coding weakens a tag, and cannot weaken Last-Modified. A server may ignore Range (RFC 9110 section 14.2).
    private func dropRangeByDate(_ headers: inout Headers) {
        // RFC 9110 section 13.1.5: a tag has a quotation mark among its first three bytes. Section 13.1.4: If-Match, whose tag is weak
        // if it is about coded bytes, takes the place of If-Unmodified-Since.
        let isByDate =
            headers.first(.ifRange).map { !$0.utf8.prefix(3).contains(UInt8(ascii: "\"")) }
            ?? (headers.contains(.ifUnmodifiedSince) && !headers.contains(.ifMatch))
        guard isByDate,
            context.configuration.compression.codings.contains(where: {
                facts.acceptEncoding.quality(of: $0) > 0
            })
        else { return }
        headers.remove(.range)
        headers.remove(.ifRange)
    }

    /// Makes the tags of If-Match strong again that Dictum has weakened: a weak one never matches (RFC 9110 section 13.1.1).
    ///
    /// Those that are weak at the upstream itself stay: FHIR and OData servers take no others. Those that Dictum has made go:
    /// without Dictum the client would have no tag, and no upstream knows them.
    private func translateIfMatch(_ headers: inout Headers) {
        let tags = headers.values(.ifMatch)
        let translated = ETagForm.upstreamIfMatch(tags) { tag in
            let opaque = Array(tag.opaque.utf8)
            return context.shared.weakTags.contains(hash { $0.combine(text: opaque.span) })
        }
        guard let translated else { return }
        if translated.isEmpty {
            headers.remove(.ifMatch)
        } else {
            headers.replace(.ifMatch, with: translated)
        }
    }

    private func hash(_ combine: (inout Hasher) -> Void) -> Int {
        var hasher = Hasher()
        hasher.combine(resource.authority)
        hasher.combine(resource.url.path)
        combine(&hasher)
        return hasher.finalize()
    }
}

extension Hasher {
    fileprivate mutating func combine(text: Span<UInt8>) {
        // Safe: the pointer is used only within the call, while the span is alive.
        unsafe text.withUnsafeBytes { unsafe combine(bytes: $0) }
    }
}

// MARK: - Pages without Links of their own

extension Exchange {
    /// Notes whether the upstream's whole response has Links, before any of Dictum's is added.
    func noteLinks(of response: UpstreamResponse) {
        guard request.method == .get, response.facts.status == 200,
            response.offerForm == .link
                || route.announcement != .off && MediaTypes.isDocument(response.facts.contentType)
        else { return }
        context.shared.linklessPages.note(pageHash, !response.head.headers.contains(.link))
    }

    /// Returns true if a Link on the upstream's 304 takes no other's place at the client (RFC 9111 section 3.2).
    func mayLink(_ notModified: ResponseHead) -> Bool {
        notModified.headers.contains(.link) || context.shared.linklessPages.contains(pageHash)
    }

    private var pageHash: Int { hash { $0.combine(resource.url.query) } }
}
