internal import Dictionaries
internal import HTTP
internal import Primitives
internal import Storage

// MARK: - The twin URL of a resource

extension Exchange {
    /// Gives a response the life of its twin URL, if it offers its body.
    func shapeTwin(_ response: inout UpstreamResponse) {
        let headers = response.head.headers
        TwinURL.shape(
            &response.head.headers,
            isOffered: headers.contains(.useAsDictionary) && !response.facts.hasUseAsDictionary,
            lifeSeconds: route.dictionary?.ownLifeSeconds ?? 0)
    }

    /// Notes that the deltas of a client have become long, and that no response of the path itself can bring it another
    /// dictionary.
    func noteTwinDue(_ response: UpstreamResponse, deltaBytes: Int?) {
        guard let deltaBytes, !isTwin, facts.method == .get, let version = dictionary.version,
            !version.isPinned(at: SystemClock.unixSeconds), unkeptReason(response) != nil
        else { return }
        isTwinDue = isRenewed(response, deltaBytes: deltaBytes)
    }
}
