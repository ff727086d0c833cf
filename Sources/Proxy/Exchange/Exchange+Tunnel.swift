internal import HTTP

// MARK: - Connections that change their protocol

extension Exchange {
    /// The upstream has agreed to the client's Upgrade: from here on bytes pass both ways as they are.
    func switchedProtocols(_ head: ResponseHead) {
        record.upstreamStatus = Int(head.status.rawValue)
        noteAnswer()
        guard let asked = upstreamHead, Upgrade.isAnswer(head.headers, to: asked.headers) else {
            upstream?.abort()
            return failed(.malformed(.unexpectedInterim))
        }
        isTunnel = true
        record.status = Int(head.status.rawValue)
        proxy.metrics.countUpgrade()
        var head = head
        hideIdentity(in: &head.headers)
        connection.switchProtocols(head)
    }

    /// One of the two connections has failed: the other goes too, and does not look ended in good order.
    func breakTunnel() {
        connection.abort()
        account(isComplete: false)
    }
}
