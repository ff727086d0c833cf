internal import Dictionaries
internal import HTTP
internal import Primitives

/// The request as the upstream gets it: a pure function of what the client sent.
enum UpstreamRequest {
    /// The facts that shape it besides the request itself.
    struct Surroundings {
        let peer: ClientPeer
        let route: Route
        let via: Via
        /// True while the client's TLS handshake is not complete.
        var isEarly = false
        /// True if the upstream gets the body without its content coding.
        var isDecoded = false
        /// The fields that clients may not send themselves.
        var subjectFields: [HeaderName] = []
        /// The field for the subject of the client's certificate; nil if none is configured.
        var subjectField: HeaderName?
    }

    static func head(
        from request: RequestHead, framing: BodyFraming, _ surroundings: Surroundings
    ) -> RequestHead {
        var head = request
        let wantsTrailers = request.headers.containsToken(.te, "trailers")
        let protocols = Upgrade.protocols(askedBy: request, framing: framing)
        head.headers.removeConnectionFields()
        head.headers.removeTrailerNames()
        // Before Dictum or the route sets any of them. Any other client could claim an address with them.
        if !surroundings.peer.isTrusted { head.headers.removeAll(.forwarding) }
        if surroundings.isDecoded { removeCoding(&head.headers, framing) }
        head.version = .http11
        setHost(&head, surroundings)
        setTarget(&head, without: surroundings.route.prefix)
        surroundings.route.requestEdits?.apply(to: &head.headers)
        setFraming(&head, framing, wantsTrailers: wantsTrailers)
        if let protocols {
            head.headers.append(.upgrade, protocols)
            head.headers.append(.connection, "upgrade")
        }
        head.headers.append(surroundings.via.line(receivedBy: request.version))
        setForwarding(&head.headers, request, surroundings)
        setSubject(&head.headers, surroundings)
        // RFC 8470 section 5.1: an Early-Data of a proxy before Dictum stays.
        if surroundings.isEarly, !head.headers.contains(.earlyData) { head.headers.append(.earlyData, "1") }
        if surroundings.route.policy.hasDictionary {
            setDictionaryFields(&head.headers, acceptEncoding: surroundings.route.acceptEncoding)
        }
        if request.version < .http11 { head.headers.remove(.expect) }
        if request.method == .options, let left = forwardsLeft(request.headers) {
            head.headers.replace(.maxForwards, with: String(max(0, left - 1)))
        }
        return consume head
    }

    /// Returns the client's trailers as the upstream gets them.
    ///
    /// An upstream may read trailers as if they stood in the head, so they have none of the fields that Dictum sets there.
    static func trailers(
        _ received: Headers, without subjectFields: [HeaderName], requestID: HeaderName?, edits: FieldEdits?,
        isDecoded: Bool
    ) -> Headers {
        guard !received.isEmpty else { return received }
        var trailers = received
        edits?.remove(from: &trailers)
        if isDecoded { trailers.removeAll(ResponseEdits.ofTheCodedBytes) }
        for name in subjectFields { trailers.removeLookalikes(of: name) }
        if let requestID { trailers.removeLookalikes(of: requestID) }
        return trailers
    }

    /// Returns Max-Forwards (RFC 9110 section 7.6.2), digits and nothing else; very large numbers count as a billion.
    static func forwardsLeft(_ headers: borrowing Headers) -> Int? {
        guard let text = headers.first(.maxForwards), !text.isEmpty,
            text.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 })
        else { return nil }
        return text.utf8.count <= 9 ? Int(text) : 1_000_000_000
    }

    /// Gives a request of HTTP/1.0 without Host that of the upstream.
    private static func setHost(_ head: inout RequestHead, _ surroundings: Surroundings) {
        guard !head.headers.contains(.host) else { return }
        head.headers.append(.host, surroundings.route.upstream?.authority ?? "")
    }

    /// Makes an OPTIONS target without a path `*`, which stands for the whole server (RFC 9112 section 3.2.4), and removes
    /// the route's prefix from other targets.
    private static func setTarget(_ head: inout RequestHead, without prefix: PathPrefix?) {
        if head.method == .options, head.target.isBareAuthority,
            let whole = try? RequestTarget("*", method: .options)
        {
            head.target = whole
        }
        guard let prefix, let target = prefix.removed(from: head.target) else { return }
        head.target = target
        // A trusted proxy may have removed another one before.
        head.headers.replace(
            .xForwardedPrefix, with: former(head.headers.values(.xForwardedPrefix)) + prefix.text)
    }

    /// Returns the prefix that trusted proxies have removed, each of which may have added a line, without a slash at its end.
    private static func former(_ lines: [String]) -> String {
        lines.map { String($0.reversed().drop { $0 == "/" }.reversed()) }.joined()
    }

    /// Removes the fields that describe the client's bytes, and its wish for a 100, which Dictum has fulfilled.
    private static func removeCoding(_ headers: inout Headers, _ framing: BodyFraming) {
        headers.removeAll(ResponseEdits.ofTheCodedBytes)
        headers.remove(.expect)
        if case .length(let count) = framing { headers.append(.contentLength, String(count)) }
    }

    private static func setFraming(_ head: inout RequestHead, _ framing: BodyFraming, wantsTrailers: Bool) {
        // A server that expects no body with such a method may take it for the next request, so there must be none.
        if framing.hasBody, head.method.isSafe, head.method != .query {
            head.headers.append(.connection, "close")
        }
        if framing.hasBody, framing == .chunked {
            head.headers.remove(.contentLength)
            head.headers.append(.transferEncoding, "chunked")
        }
        if wantsTrailers {
            head.headers.append(.te, "trailers")
            head.headers.append(.connection, "TE")
        }
    }

    /// Continues the fields of trusted peers; there are none of others.
    private static func setForwarding(
        _ headers: inout Headers, _ request: RequestHead, _ around: Surroundings
    ) {
        // Nearly always nobody has told of the client before.
        guard headers.tellsOfClient || around.peer.isTrusted && request.headers.tellsOfClient else {
            headers.append(around.peer.fields)
            return setForwardedHost(&headers, request)
        }
        let address = around.peer.text
        if around.peer.isTrusted, headers.contains(.xForwardedFor) {
            let chain = (headers.values(.xForwardedFor) + [address]).joined(separator: ", ")
            headers.replace(.xForwardedFor, with: chain)
        } else {
            // A trusted peer may name its client by Forwarded alone.
            let client = around.peer.isTrusted ? around.peer.clientAddressForLimits(request.headers) : nil
            headers.append(.xForwardedFor, client.map { "\($0.text), \(address)" } ?? address)
        }
        if !headers.contains(.xForwardedProto) {
            headers.append(.xForwardedProto, around.peer.scheme(request.headers))
        }
        if !headers.contains(.xForwardedHost) { setForwardedHost(&headers, request) }
    }

    private static func setForwardedHost(_ headers: inout Headers, _ request: RequestHead) {
        // There is one at most, and it is a valid one (RFC 9112 section 3.2).
        request.headers.forEachValue(of: .host) { headers.append(.xForwardedHost, checked: $0) }
    }

    /// Sets the subject of the client's certificate; a client that could send the field itself could claim any.
    private static func setSubject(_ headers: inout Headers, _ around: Surroundings) {
        for name in around.subjectFields { headers.removeLookalikes(of: name) }
        if let name = around.subjectField, let subject = around.peer.tls?.clientSubject {
            headers.append(name, subject)
        }
    }

    /// Removes the client's dictionary, which the upstream does not have.
    private static func setDictionaryFields(
        _ headers: inout Headers, acceptEncoding: Configuration.Upstream.AcceptEncodingMode
    ) {
        headers.remove(.availableDictionary)
        headers.remove(.dictionaryID)
        switch acceptEncoding {
        case .identity:
            headers.remove(.acceptEncoding)
            headers.append(identityOnly)
        case .pass: dropDictionaryCodings(&headers)
        }
    }

    private static let identityOnly: Headers = {
        var line = Headers()
        line.append(.acceptEncoding, "identity")
        return line
    }()

    private static func dropDictionaryCodings(_ headers: inout Headers) {
        guard let accepted = headers.joined(.acceptEncoding) else { return }
        let kept = accepted.split(separator: ",").filter { member in
            let token = member.prefix { $0 != ";" }.lowercased().filter { $0 != " " && $0 != "\t" }
            return ContentCoding(rawValue: token)?.usesDictionary != true
        }
        headers.replace(.acceptEncoding, with: kept.isEmpty ? "identity" : kept.joined(separator: ","))
    }
}

/// Decisions about the change of a connection's protocol, WebSocket above all (RFC 9110 section 7.8): pure functions.
enum Upgrade {
    /// Returns the protocols of a request that are passed on to the upstream; nil if there are none.
    ///
    /// h2c is not: a tunnel of HTTP/2 would carry requests that Dictum never sees. A request with a body has none, because
    /// nobody could tell where the new protocol begins.
    static func protocols(askedBy request: borrowing RequestHead, framing: BodyFraming) -> String? {
        guard request.headers.contains(.upgrade), request.version >= .http11, !framing.hasBody,
            request.headers.containsToken(.connection, "upgrade")
        else { return nil }
        let names = names(request.headers).filter { !isHTTP($0) }
        return names.isEmpty ? nil : names.joined(separator: ", ")
    }

    /// Returns true if a 101 changes to protocols that its request asked for, and to no others.
    static func isAnswer(_ response: borrowing Headers, to request: borrowing Headers) -> Bool {
        let asked = Set(names(request).map { $0.lowercased() })
        let chosen = names(response)
        return !chosen.isEmpty && chosen.allSatisfy { asked.contains($0.lowercased()) }
    }

    private static func names(_ headers: borrowing Headers) -> [String] {
        var names: [String] = []
        headers.forEachListMember(of: .upgrade) { names.append(String($0)) }
        return names
    }

    private static func isHTTP(_ name: String) -> Bool {
        let name = name.lowercased()
        return name.hasPrefix("h2") || name.hasPrefix("h3") || name == "http" || name.hasPrefix("http/")
    }
}
