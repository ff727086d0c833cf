internal import HTTP

// MARK: - Identifiers, to find a request again in the logs of all who had it

extension Exchange {
    /// Gives the upstream's request an identifier, unless a trusted peer has given it one that will do.
    func setRequestID(_ head: inout RequestHead) {
        guard let name = context.requestIDName else { return }
        if peer.isTrusted, Identifiers.hasRequestID(head.headers, name) { return }
        let id = proxy.makeRequestID()
        head.headers.remove(name)
        head.headers.append(name, id.span)
        if proxy.isLogging { record.requestID = id.indices.map { id[$0] } }
    }

    /// Notes for the log what the request brought along.
    func noteIdentifiers() {
        record.traceID = Identifiers.traceID(in: request.headers)
        // One that was made is noted already.
        guard record.requestID == nil, peer.isTrusted, let name = context.requestIDName else { return }
        record.requestID = Identifiers.requestID(in: request.headers, name)
    }
}
