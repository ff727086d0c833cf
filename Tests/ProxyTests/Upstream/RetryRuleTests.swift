import HTTP
import Testing

@testable import Proxy

struct RetryRuleTests {
    private static let refused = UpstreamError.connectFailed(SystemError(code: 111))
    private static let noDescriptors = UpstreamError.connectFailed(SystemError(code: 24))

    private func verdict(
        _ error: UpstreamError, sent: Bool = true, received: Bool = false, repeatable: Bool = true
    ) -> RetryRule.Verdict {
        RetryRule.verdict(
            .init(error: error, hasSent: sent, hasReceived: received, isRepeatable: repeatable))
    }

    @Test(arguments: [
        (UpstreamError.closedBeforeHead, RetryRule.Verdict.retryAnywhere), (.headTimeout, .retryElsewhere),
        (.idleTimeout, .retryElsewhere),
    ])
    func
        `what was sent is sent again only if it may be repeated and nothing has come, and not to who had its time`(
            error: UpstreamError, expected: RetryRule.Verdict
        )
    {
        #expect(verdict(error) == expected)
        #expect(verdict(error, received: true) == .never)
        #expect(verdict(error, repeatable: false) == .never)
        #expect(verdict(error, sent: false, repeatable: false) == expected)
    }

    @Test(arguments: [true, false])
    func `without a connection any request goes elsewhere`(isRepeatable: Bool) {
        #expect(verdict(Self.refused, sent: false, repeatable: isRepeatable) == .moveUnsent)
        #expect(verdict(.connectTimeout, sent: false, repeatable: isRepeatable) == .moveUnsent)
        #expect(verdict(.handshakeFailed(.closed), sent: false, repeatable: isRepeatable) == .moveUnsent)
        #expect(RetryRule.isFault(.handshakeFailed(.closed)))
    }

    @Test(arguments: [
        (ParseError.malformedStatusLine, true), (.headTooLarge, false), (.tooManyFields, false),
    ])
    func `a head over a limit of ours is no fault of the address`(error: ParseError, isFault: Bool) {
        #expect(RetryRule.isFault(.malformed(error)) == isFault)
    }

    @Test(
        arguments: [
            (.connectTimeout, true), (.closedBeforeHead, true), (.headTimeout, true),
            (.http2(.violation), true),
            (.stale, false), (.truncated, false), (.idleTimeout, false),
        ] as [(UpstreamError, Bool)])
    func `what keeps an address from responding is its fault, and what ends a response that has begun is not`(
        error: UpstreamError, isFault: Bool
    ) {
        #expect(RetryRule.isFault(error) == isFault)
    }

    @Test func `what this machine lacks no other upstream has`() {
        #expect(verdict(Self.noDescriptors, sent: false) == .never)
        #expect(!RetryRule.isFault(Self.noDescriptors))
        #expect(RetryRule.isFault(Self.refused))
    }

    @Test func `a stale connection is replaced if the request may be repeated or has not left`() {
        #expect(verdict(.stale) == .reconnect)
        #expect(verdict(.stale, sent: false, repeatable: false) == .reconnect)
        #expect(verdict(.stale, repeatable: false) == .never)
        #expect(!RetryRule.isFault(.stale))
    }

    @Test(arguments: [UpstreamError.malformed(.malformedStatusLine), .truncated, .http2(.violation)])
    func `an answer that is broken is not asked for again`(error: UpstreamError) {
        #expect(verdict(error, received: true) == .never)
        #expect(verdict(error, sent: false) == .never)
    }
}
