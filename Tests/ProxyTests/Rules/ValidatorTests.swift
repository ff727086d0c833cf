internal import Dictionaries
internal import HTTP
internal import Primitives
internal import Storage
internal import TestSupport
internal import Testing

@testable import Proxy

private let first = Feed.bytes(version: 0, items: 40)
private let second = Feed.bytes(version: 1, items: 40)
private let codings = ["identity", "gzip", "br", "zstd", "dcz", "dcb"]

@Suite(.timeLimit(.minutes(40))) struct ValidatorTests {
    @Test(
        arguments: [
            (#""v1""#, "identity", #""v1""#), (#""v1""#, "gzip", #"W/"v1""#), (#""v1""#, "dcz", #"W/"v1""#),
            (#"W/"v1""#, "dcb", #"W/"v1""#), (#"W/"v1""#, "identity", #"W/"v1""#), ("v1", "identity", "v1"),
            ("v1", "gzip", nil),
        ] as [(String, String, String?)])
    func `the upstream's ETag is kept, and weak where the coding changes`(
        tag: String, coding: String, sent: String?
    ) throws {
        let proxy = try TestProxy(Origin([json(first), json(second, "ETag: \(tag)")]))
        _ = try proxy.fetch("/feed")
        let answer = try proxy.fetch("/feed", over: first, accept: coding)
        #expect(answer.coding == coding)
        #expect(answer["ETag"] == sent)
    }

    @Test func `without one an ETag is made from the body, the same for the same body`() throws {
        let proxy = try TestProxy(Origin([json(first), json(first), json(first), json(second)]))
        let made = try #require(try proxy.fetch("/feed")["ETag"])
        #expect(made.hasPrefix("\"") && made.hasSuffix("\""))
        #expect(try proxy.fetch("/other")["ETag"] == made)
        #expect(try proxy.fetch("/feed", "Accept-Encoding: br")["ETag"] == "W/\(made)")
        #expect(try proxy.fetch("/feed")["ETag"] != made)
    }

    /// RFC 9110 section 13.1.3: beside If-None-Match an upstream must ignore If-Modified-Since, and would send all again.
    @Test func `no ETag is made beside Last-Modified, so that the upstream goes on to say 304`() throws {
        let proxy = try TestProxy(json(first, "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT"))
        for accept in ["identity", "gzip", "dcz"] {
            let answer = try proxy.fetch("/feed", over: first, accept: accept)
            #expect(answer["ETag"] == nil)
            #expect(answer["Last-Modified"] != nil)
        }
        #expect(try proxy.fetch("/feed", over: first).coding == "dcz", "it is a dictionary all the same")
    }

    @Test func `no ETag is made for what is not held whole`() throws {
        let origin = try Origin { _, connection in
            let head = wire("HTTP/1.1 200 OK", "Content-Type: application/json", "Transfer-Encoding: chunked")
            connection.send(head + chunk(first))
            pauseBeyondTheHold()
            connection.send(chunk(second) + chunk([]))
        }
        #expect(try TestProxy(origin).fetch("/feed")["ETag"] == nil)
    }

    @Test(arguments: codings)
    func `If-None-Match is answered 304 whichever coding the client holds`(coding: String) throws {
        // The upstream knows nothing of conditions.
        let proxy = try TestProxy(Origin([json(first), json(second)]))
        for _ in 0..<2 { _ = try proxy.fetch("/feed") }
        let held = try proxy.fetch("/feed", over: first, accept: coding)
        let tag = try #require(held["ETag"])
        for accept in codings {
            let answer = try proxy.fetch("/feed", over: first, "If-None-Match: \(tag)", accept: accept)
            #expect(answer.status == 304)
            #expect(answer["ETag"].flatMap { EntityTag($0) }?.weakened == EntityTag(tag)?.weakened)
            #expect(answer["Content-Encoding"] == nil)
            #expect(answer["Content-Length"] == nil)
            #expect(answer["CDN-Cache-Control"] == nil)
            #expect(answer.members("Vary") == ["accept-encoding", "available-dictionary"])
            #expect(answer["Use-As-Dictionary"] == #"match="/feed""#)
        }
        #expect(try proxy.fetch("/feed", #"If-None-Match: "other""#).status == 200)
        #expect(try proxy.fetch("/feed", #"If-None-Match: "other", \#(tag)"#).status == 304)
        #expect(try proxy.fetch("/feed", "If-None-Match: *").status == 304)
    }

    @Test func `a slow answer whose ETag the client holds is a 304 too`() throws {
        let origin = try Origin { _, connection in
            let head = wire(
                "HTTP/1.1 200 OK", "Content-Type: application/json", "Transfer-Encoding: chunked",
                #"ETag: "v1""#)
            connection.send(head + chunk(first))
            pauseBeyondTheHold()
            connection.send(chunk(second) + chunk([]))
        }
        let proxy = try TestProxy(origin)
        #expect(try proxy.fetch("/feed", #"If-None-Match: W/"v1""#).status == 304)
    }

    /// Whatever is no UTF-8 becomes this character in a text, so that two tags would be equal that are not.
    @Test func `a tag whose bytes are no text is nobody's, and goes out as it came`() throws {
        let proxy = try TestProxy(json(first, "ETag: \"\u{FFFD}\""))
        let answer = try proxy.fetch("/feed", "If-None-Match: \"\u{FFFD}\"", "Accept-Encoding: identity")
        #expect(answer.status == 200 && answer.carries(first) && answer["ETag"] == "\"\u{FFFD}\"")
        #expect(try proxy.fetch("/feed", "Accept-Encoding: gzip")["ETag"] == nil)
    }

    @Test func `what the upstream coded itself is a 304 too`() throws {
        let bytes = try Codec.encode(first.span, .gzip)
        let proxy = try TestProxy(json(bytes, "Content-Encoding: gzip", #"ETag: "v1""#))
        #expect(try proxy.fetch("/feed", #"If-None-Match: W/"v1""#, "Accept-Encoding: gzip").status == 304)
    }

    /// RFC 9110 section 15.4.5: a cache takes over what a 304 says, and would keep an image for one dictionary only.
    @Test(arguments: ["GET", "HEAD"])
    func `a 304 in place of a response that does not vary has no Vary`(method: String) throws {
        let image = wire("HTTP/1.1 200 OK", "Content-Type: image/png", #"ETag: "v1""#, body: first)
        let fixed = json(first, "Cache-Control: no-transform", #"ETag: "v1""#)
        for response in [image, fixed] {
            let origin = try Origin { request, connection in
                let head = response.prefix(response.count - first.count)
                connection.send(request.method == "HEAD" ? Array(head) : response)
            }
            let proxy = try TestProxy(origin)
            #expect(try proxy.fetch("/logo", method: method)["Vary"] == nil)
            let answer = try proxy.fetch("/logo", #"If-None-Match: "v1""#, method: method)
            #expect(answer.status == 304 && answer["Vary"] == nil)
        }
    }

    @Test func `the upstream's own 304 carries the tag in the form that the client holds`() throws {
        let proxy = try TestProxy(wire("HTTP/1.1 304 Not Modified", #"ETag: "v1""#))
        #expect(try proxy.fetch("/feed", #"If-None-Match: W/"v1""#)["ETag"] == #"W/"v1""#)
        #expect(try proxy.fetch("/feed", #"If-None-Match: "v1""#)["ETag"] == #""v1""#)
    }

    @Test func `If-Match with our weak form goes upstream as the strong one`() throws {
        let proxy = try TestProxy(json(first))
        _ = try proxy.fetch("/feed", #"If-Match: W/"v1", "v2""#, method: "PUT", body: [0x7b, 0x7d])
        _ = try proxy.fetch("/feed", "If-Match: *", method: "PUT", body: [])
        // Of a list with a tag that cannot be read here, no tag may get lost.
        let strange = "W/\"v1\", \"caf\u{e9}\""
        _ = try proxy.fetch("/feed", "If-Match: \(strange)", method: "PUT", body: [])
        #expect(proxy.origin.requests.map { $0["If-Match"] } == [#""v1", "v2""#, "*", strange])
    }

    /// The rest of the upstream's bytes would follow the beginning of coded ones.
    @Test func `If-Match with our weak form goes up as it came where a part is asked for`() throws {
        let proxy = try TestProxy(json(first))
        _ = try proxy.fetch("/feed", #"If-Match: W/"v1""#, "Range: bytes=1000-")
        _ = try proxy.fetch(
            "/feed", #"If-Match: W/"v1""#, "Range: bytes=0-", method: "PUT", body: [0x7b, 0x7d])
        #expect(proxy.origin.requests.map { $0["If-Match"] } == [#"W/"v1""#, #""v1""#])
    }

    /// RFC 9110 section 8.8.2: a coded response has the Last-Modified of the upstream's.
    @Test(arguments: ["If-Range", "If-Unmodified-Since"])
    func `a download goes on from its middle only where its bytes cannot have been coded`(name: String) throws
    {
        let condition = "\(name): Sun, 06 Nov 1994 08:49:37 GMT"
        let date = "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT"
        let origin = try Origin { request, connection in
            let part = wire(
                "HTTP/1.1 206 Partial Content", "Content-Type: application/json", date,
                "Content-Range: bytes 1000-\(first.count - 1)/\(first.count)", body: Array(first[1000...]))
            connection.send(request["Range"] == nil ? json(first, date) : part)
        }
        let proxy = try TestProxy(origin)
        #expect(try proxy.fetch("/feed", "Accept-Encoding: gzip")["Last-Modified"] != nil)
        for accept in ["gzip", "gzip, identity;q=0.5", "*"] {
            let answer = try proxy.fetch(
                "/feed", "Accept-Encoding: \(accept)", "Range: bytes=1000-", condition)
            #expect(answer.status == 200 && answer.carries(first))
            let got = try #require(proxy.origin.requests.last)
            #expect(got["Range"] == nil && got["If-Range"] == nil)
        }
        for accept in ["Accept-Encoding: identity", "Accept-Encoding: gzip;q=0", "X-A: 1"] {
            let answer = try proxy.fetch("/feed", accept, "Range: bytes=1000-", condition)
            #expect(answer.status == 206 && answer.carries(Array(first[1000...])))
        }
        let both = #"If-Unmodified-Since: Sun, 06 Nov 1994 08:49:37 GMT\#r\#nIf-Match: "v1""#
        for other in [#"If-Range: "v1""#, #"If-Range: W/"v1""#, both, "X-A: 1"] {
            let answer = try proxy.fetch("/feed", "Accept-Encoding: gzip", "Range: bytes=1000-", other)
            #expect(answer.status == 206, "tags tell codings apart")
        }
        try proxy.reload("compression: {codings: []}")
        #expect(
            try proxy.fetch("/feed", "Accept-Encoding: gzip", "Range: bytes=1000-", condition).status == 206)
    }

    /// Without Dictum its client would have no tag, and send none.
    @Test func `no upstream sees a tag that Dictum has made`() throws {
        let proxy = try TestProxy(
            Origin { request, connection in
                connection.send(
                    request["If-Match"] == nil
                        ? json(first) : wire("HTTP/1.1 412 Precondition Failed", body: []))
            })
        let plain = try #require(try proxy.fetch("/feed")["ETag"])
        let coded = try #require(try proxy.fetch("/feed", "Accept-Encoding: gzip")["ETag"])
        #expect(coded == "W/\(plain)")
        for made in [plain, coded] {
            let answer = try proxy.fetch("/feed", "If-Match: \(made)", method: "PUT", body: [0x7b, 0x7d])
            #expect(answer.status == 200)
            #expect(try #require(proxy.origin.requests.last).values("If-Match").isEmpty)
            _ = try proxy.fetch("/feed", "If-Match: \(made), W/\"v1\"", method: "PUT", body: [0x7b, 0x7d])
            #expect(proxy.origin.requests.last?["If-Match"] == #""v1""#)
        }
    }

    /// FHIR and OData servers refuse the strong form of their weak tags.
    @Test func `If-Match has the form that the upstream gave the tag of this resource`() throws {
        let origin = try Origin { request, connection in
            connection.send(json(first, "ETag: \(request.target == "/weak" ? "W/" : "")\"v1\""))
        }
        let proxy = try TestProxy(origin)
        func ifMatch(_ path: String, _ tags: String = #"W/"v1""#) throws -> String? {
            _ = try proxy.fetch(path, "If-Match: \(tags)", method: "PUT", body: [0x7b, 0x7d])
            return proxy.origin.requests.last?["If-Match"]
        }
        for path in ["/weak", "/strong"] { _ = try proxy.fetch(path, "Accept-Encoding: gzip") }
        try proxy.reload("compression: {min_size: 200}")
        #expect(try ifMatch("/weak") == #"W/"v1""#)
        #expect(try ifMatch("/strong") == #""v1""#)
        #expect(try ifMatch("/weak", #"W/"v1", W/"v2""#) == #"W/"v1", "v2""#)
        #expect(try ifMatch("/weak", #""v1", other"#) == #""v1", other"#, "there is nothing to change")
        _ = try proxy.fetch(
            "/weak", #"If-Match: W/"v1""#, method: "PUT", host: "other.test", body: [0x7b, 0x7d])
        #expect(proxy.origin.requests.last?["If-Match"] == #""v1""#, "another host has tags of its own")
    }

    @Test func `a 304 says nothing of the bytes, whose coding the client alone knows`() throws {
        let fields = [
            #"ETag: "v1""#, "Repr-Digest: sha-256=:AA==:", "Content-MD5: AA==", "Accept-Ranges: bytes",
            "Content-Language: de",
        ]
        let isOwn = Guarded(true)
        let origin = try Origin { request, connection in
            let status = isOwn.withLock { $0 } ? "304 Not Modified" : "200 OK"
            let lines = ["HTTP/1.1 \(status)", "Content-Type: application/json"] + fields
            let body = isOwn.withLock { $0 } ? nil : first
            connection.send(wire(lines.joined(separator: "\r\n"), body: body))
        }
        let proxy = try TestProxy(origin)
        for _ in 1...2 {
            let answer = try proxy.fetch("/feed", #"If-None-Match: W/"v1""#)
            #expect(answer.status == 304 && answer["ETag"] == #"W/"v1""#)
            for name in ["Repr-Digest", "Content-MD5", "Accept-Ranges"] { #expect(answer[name] == nil) }
            let isUpstreams = isOwn.withLock { $0 }
            #expect(isUpstreams || answer["Content-Language"] == nil)
            isOwn.withLock { $0 = false }
        }
    }

    @Test func `a 304 finds its version by the opaque tag, and by the date only where there is no tag`() {
        let date = "Sun, 06 Nov 1994 08:49:37 GMT"
        var headers = Headers()
        headers.append(.lastModified, date)
        #expect(headers.versionTag() == date)
        #expect(headers.versionTag(etag: #""made""#) == #""made""#)
        headers.append(.etag, #"W/"v1""#)
        #expect(headers.versionTag() == #""v1""#)
        #expect(headers.versionTag(etag: #""made""#) == #""made""#)
        headers.replace(.etag, with: "v1")
        #expect(headers.versionTag() == nil)
    }

    @Test func `HEAD has the ETag and Vary of GET, no length where a coding would apply, no offer`() throws {
        let origin = try Origin { request, connection in
            let head = wire(
                "HTTP/1.1 200 OK", "Content-Type: application/json", #"ETag: "v1""#,
                "Content-Length: \(first.count)")
            connection.send(request.method == "HEAD" ? head : head + first)
        }
        let proxy = try TestProxy(origin)
        for coding in codings {
            let get = try proxy.fetch("/feed", over: second, accept: coding)
            let head = try proxy.fetch("/feed", over: second, accept: coding, method: "HEAD")
            #expect(head["ETag"] == get["ETag"])
            #expect(head["Vary"] == get["Vary"])
            #expect(head["Content-Encoding"] == get["Content-Encoding"])
            #expect(head["Content-Length"] == (get.coding == "identity" ? "\(first.count)" : nil))
            #expect(head["Use-As-Dictionary"] == nil)
            #expect(head["Transfer-Encoding"] == nil)
        }
        #expect(try proxy.fetch("/feed", #"If-None-Match: W/"v1""#, method: "HEAD").status == 304)
    }
}
