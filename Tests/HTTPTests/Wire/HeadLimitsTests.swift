import Testing

@testable import HTTP

struct HeadLimitsTests {
    private static let request = "GET / HTTP/1.1\r\nHost: a\r\nB: c\r\n\r\n"
    private static let response = "HTTP/1.1 200 OK\r\nB: c\r\n\r\n"

    @Test func `a head of the greatest size passes and one byte more is refused with 431`() throws {
        let size = Self.request.utf8.count
        #expect(try parseRequest(Self.request, MessageLimits(headBytes: size)) != nil)
        #expect(requestFault(Self.request, MessageLimits(headBytes: size - 1)) == .headTooLarge)
        #expect(ParseError.headTooLarge.status == .requestHeaderFieldsTooLarge)
        let responseSize = Self.response.utf8.count
        #expect(try parseResponse(Self.response, MessageLimits(headBytes: responseSize)) != nil)
        #expect(responseFault(Self.response, MessageLimits(headBytes: responseSize - 1)) == .headTooLarge)
    }

    @Test func `an empty line before the head does not count`() throws {
        let limits = MessageLimits(headBytes: Self.request.utf8.count)
        #expect(try parseRequest("\r\n" + Self.request, limits) != nil)
    }

    @Test func `a head that goes on beyond its limit is refused though it has no end yet`() {
        let limits = MessageLimits(headBytes: 64)
        #expect(requestFault("GET / HTTP/1.1\r\nA: " + String(repeating: "b", count: 44), limits) == nil)
        #expect(
            requestFault("GET / HTTP/1.1\r\nA: " + String(repeating: "b", count: 45), limits) == .headTooLarge
        )
        #expect(requestFault("GET /" + String(repeating: "b", count: 60), limits) == .headTooLarge)
        #expect(responseFault("HTTP/1.1 200 " + String(repeating: "b", count: 51), limits) == .headTooLarge)
    }

    @Test func `as many fields as allowed pass and one more is refused with 431`() throws {
        #expect(try parseRequest(Self.request, MessageLimits(fieldCount: 2)) != nil)
        #expect(requestFault(Self.request, MessageLimits(fieldCount: 1)) == .tooManyFields)
        #expect(responseFault(Self.response, MessageLimits(fieldCount: 0)) == .tooManyFields)
        #expect(ParseError.tooManyFields.status == .requestHeaderFieldsTooLarge)
    }

    @Test func `the longest target passes and one byte more is refused with 414 at once`() throws {
        let limits = MessageLimits(requestTargetBytes: 10)
        #expect(try parseRequest("GET /123456789 HTTP/1.1\r\nHost: a\r\n\r\n", limits) != nil)
        #expect(requestFault("GET /1234567890", limits) == .targetTooLong)
        #expect(ParseError.targetTooLong.status == .uriTooLong)
    }
}
