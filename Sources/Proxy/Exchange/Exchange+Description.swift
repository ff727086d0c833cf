internal import Dictionaries
internal import HTTP
internal import Primitives

// MARK: - The exchange is described for the log

extension Exchange {
    /// Adds the facts to the record that only the log needs.
    func describeRequest() {
        let connected = Self.text(of: clientFacts.peer)
        let named = peer.isTrusted ? peer.clientAddressForLimits(request.headers) : nil
        record.description = RequestDescription(
            client: named.map { Array($0.text.utf8) } ?? connected, forwarder: named.map { _ in connected },
            method: Array(request.method.text.utf8),
            target: askedTarget,
            host: resource.authority.map { Array($0.utf8) }, userAgent: field(.userAgent),
            referer: field(.referer),
            traceID: RequestIdentifiers.traceID(in: request.headers))
        record.upstream = attempt.server?.logged
        describeRequestID()
    }

    /// The target as the client wrote it.
    private var askedTarget: [UInt8] {
        let target = request.target.text
        return Array((isTwin ? DictionaryPath.twin(of: target) : target).utf8)
    }

    /// Returns the last value of a field.
    private func field(_ name: HeaderName) -> [UInt8]? {
        var found: [UInt8]?
        request.headers.forEachValue(of: name) { found = [UInt8](copying: $0) }
        return found
    }
}
