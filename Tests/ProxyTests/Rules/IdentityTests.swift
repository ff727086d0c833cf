internal import HTTP
internal import TestSupport
internal import Testing

@testable import Proxy

/// The fields of lines such as "Cookie: a=b".
private func headers(_ lines: [String]) throws -> Headers {
    var headers = Headers()
    for line in lines {
        let name = line.prefix { $0 != ":" }
        headers.append(try #require(HeaderName(String(name))), String(line.dropFirst(name.count + 2)))
    }
    return headers
}

/// Returns the values of the identity items in a request and its response, as `name=value`.
private func values(
    _ items: [String], _ request: [String], response: [String]? = nil, ignoresOthers: Bool = false
) throws -> [String]? {
    let identity = ClientIdentity(
        try items.map { try #require(IdentityItem($0)) }, ignoresOtherCookies: ignoresOthers)
    return identity.values(request: try headers(request), response: try response.map(headers))?
        .map { "\($0.name)=\(String(decoding: $0.value, as: UTF8.self))" }
}

@Suite struct IdentityTests {
    @Test(arguments: [
        (["authorization"], ["Authorization: Bearer a"], ["authorization=Bearer a"]),
        (["header:Authorization"], ["Authorization: Bearer a"], ["authorization=Bearer a"]),
        (["cookie:sid"], ["Cookie: sid=1"], ["cookie:sid=1"]),
        (["cookie:sid"], ["Cookie: ; sid = 1 ;"], ["cookie:sid=1"]),
        (["cookie:sid"], ["Cookie: sid=a=b"], ["cookie:sid=a=b"]),
        (["cookie:b", "cookie:a"], ["Cookie: a=1; b=2"], ["cookie:a=1", "cookie:b=2"]),
        (["cookie:a", "cookie:b"], ["Cookie: b=2", "Cookie: a=1"], ["cookie:a=1", "cookie:b=2"]),
        (["header:X-User"], ["x-user: ann"], ["header:x-user=ann"]),
        (["header:cookie"], ["Cookie: a=1; b=2"], ["header:cookie=a=1; b=2"]),
        (
            ["cookie:sid", "authorization"], ["Cookie: sid=1", "Authorization: B"],
            ["authorization=B", "cookie:sid=1"]
        ),
    ])
    func `an identity is whole when each item is there`(
        items: [String], request: [String], values expected: [String]
    )
        throws
    {
        #expect(try values(items, request) == expected)
    }

    @Test(arguments: [
        (["authorization"], []),
        (["authorization"], ["Authorization: "]),
        (["authorization"], ["Authorization: a", "Authorization: a"]),
        (["cookie:sid"], []),
        (["cookie:sid"], ["Cookie: "]),
        (["cookie:sid"], ["Cookie: sid="]),
        (["cookie:sid"], ["Cookie: SID=1"]),
        (["cookie:sid"], ["Cookie: sid=1; sid=1"]),
        (["cookie:sid"], ["Cookie: sid=1", "Cookie: sid=2"]),
        (["cookie:a", "cookie:b"], ["Cookie: a=1"]),
        (["header:x-user"], []),
        (["header:x-user"], ["X-User: "]),
        (["header:x-user"], ["X-User: a", "X-User: b"]),
        (["header:cookie"], ["Cookie: a=1", "Cookie: b=2"]),
        (["response:x-user"], ["X-User: the client's own word"]),
    ])
    func `an item that is missing, empty or there twice makes none`(items: [String], request: [String]) throws
    {
        #expect(try values(items, request) == nil)
        // Not for lack of ignoring others.
        #expect(try values(items, request, ignoresOthers: true) == nil)
    }

    @Test(arguments: [
        (["authorization"], ["Authorization: a", "Cookie: sid=1"]),
        (["authorization"], ["Authorization: a", "Cookie: "]),
        (["cookie:sid"], ["Cookie: sid=1", "Authorization: a"]),
        (["cookie:sid"], ["Cookie: sid=1; theme=dark"]),
        (["cookie:sid"], ["Cookie: sid=1; nameless"]),
        (["cookie:sid"], ["Cookie: sid=1", "Cookie: theme=dark"]),
        (["cookie:sid"], ["Cookie: sid=1; =x"]),
        (["header:x-user"], ["X-User: ann", "Cookie: sid=1"]),
        (["header:x-user"], ["X-User: ann", "Authorization: a"]),
    ])
    func `an Authorization or a cookie that is no item makes none`(items: [String], request: [String]) throws
    {
        #expect(try values(items, request) == nil)
    }

    @Test func `cookies that do not personalise are passed over, an Authorization never`() throws {
        #expect(
            try values(["cookie:sid"], ["Cookie: theme=dark; sid=1"], ignoresOthers: true) == ["cookie:sid=1"]
        )
        #expect(
            try values(["authorization"], ["Authorization: a", "Cookie: b=1"], ignoresOthers: true) != nil)
        #expect(
            try values(["cookie:sid"], ["Cookie: sid=1", "Authorization: a"], ignoresOthers: true) == nil)
    }

    @Test func `an item of the answer comes from the answer, once and not empty`() throws {
        #expect(try values(["response:x-user"], [], response: ["X-User: ann"]) == ["response:x-user=ann"])
        #expect(try values(["response:x-user"], [], response: []) == nil)
        #expect(try values(["response:x-user"], [], response: ["X-User: "]) == nil)
        #expect(try values(["response:x-user"], [], response: ["X-User: a", "X-User: a"]) == nil)
        #expect(try values(["response:x-user"], ["Cookie: a=1"], response: ["X-User: ann"]) == nil)
        #expect(
            try values(["response:x-user", "cookie:a"], ["Cookie: a=1"], response: ["X-User: ann"])
                == ["cookie:a=1", "response:x-user=ann"])
    }

    @Test func `values are told apart byte by byte, also where they are no text`() throws {
        let identity = ClientIdentity([.authorization], ignoresOtherCookies: false)
        var found: [[UInt8]] = []
        for byte: UInt8 in [0x80, 0x81, 0xff] {
            var headers = Headers()
            headers.append(.authorization, [UInt8(ascii: "a"), byte])
            found.append(try #require(identity.values(request: headers, response: nil)).first?.value ?? [])
        }
        #expect(found == [[0x61, 0x80], [0x61, 0x81], [0x61, 0xff]])
    }

    @Test func `an operator names a user by each item, and by nothing else`() throws {
        let identity = ClientIdentity(
            [.authorization, try #require(IdentityItem("cookie:sid"))], ignoresOtherCookies: false)
        func values(_ user: [String: String]) -> [String]? {
            identity.values(of: user)?.map { "\($0.name)=\(String(decoding: $0.value, as: UTF8.self))" }
        }
        #expect(
            values(["cookie:sid": "1", "authorization": "B"]) == ["authorization=B", "cookie:sid=1"])
        #expect(values(["cookie:sid": "1"]) == nil)
        #expect(values(["cookie:sid": "1", "cookie:other": "2"]) == nil)
        #expect(values(["cookie:sid": "1", "authorization": "B", "cookie:other": "2"]) == nil)
    }

    @Test(arguments: [
        "", "Authorization", "cookie", "cookie:", "cookie:a b", "header:", "header:a:b", "query:a",
        "response:",
        "response:Content-Type", "response:set-cookie", "response:transfer-encoding", "response:ETag",
        "response:vary", "authorization:x",
    ])
    func `anything else is no item`(text: String) {
        #expect(IdentityItem(text) == nil)
    }
}
