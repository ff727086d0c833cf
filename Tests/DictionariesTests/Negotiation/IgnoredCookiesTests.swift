internal import Primitives
internal import Testing

@testable import Dictionaries

/// The setting `ignore_cookies`.
struct IgnoredCookiesTests {
    static func counts(_ line: String, _ items: [String] = IgnoredCookies.defaults) throws -> Bool {
        let cookies = try #require(IgnoredCookies(items))
        return cookies.counts(Array(line.utf8).span)
    }

    static func kept(_ line: String) throws -> String {
        let cookies = try #require(IgnoredCookies(IgnoredCookies.defaults))
        var kept: [String] = []
        cookies.forEachCounted(in: Array(line.utf8).span) { kept.append(String($0)) }
        return kept.joined(separator: "; ")
    }

    @Test(arguments: [
        "_ga=GA1.2.1234567890.1700000000", "_gid=GA1.2.1.2; _ga=GA1.2.3.4",
        "_ga_ABC123DEF4=GS1.1.1700000000.1.0.1700000100.0.0.0",
        "_ga_ABC123DEF4=GS2.1.s1747323152$o28$g0$t1747323152$j60$l0$h69286059", "_gat_gtag_UA_1234_1=1",
        "_gat_UA-1234-1=1", "_pk_id.1.1fff=d1f7a2a1a0b1c2d3.1700000000.",
        "_pk_id.12.1fff=d1f7a2a1a0b1c2d3.1700000000.1.1700000000.1700000000.", "_pk_ses.1.1fff=1",
        "_fbp=fb.1.1700000000.1", "__utma=1.2.3.4.5.6;__utmb=1;  __utmz=x",
        "_hjSessionUser_123456=eyJpZCI6IjEifQ==",
        " _ga=x ;", "_clck=1|2|3; _uetsid=x", "AWSALB=abc; AWSALBCORS=abc", "__cf_bm=x",
        "_gcl_au=1.1.2.3; __gads=ID=1; __gpi=UID=1; __utmc=1; __utmt=1; _dc_gtm_UA-1-1=1; _gat=1",
        "_fbc=fb.1.2.x",
        "_ttp=x; _tt_enable_cookie=1; _pin_unauth=x; _scid=x; _rdt_uuid=1.x; _uetvid=x; _clsk=x|1",
        "__hstc=x; __hssc=x; __hssrc=1; _hjSession_123456=eyJpZCI6IjEifQ==; _parsely_visitor={}",
        "AWSALBTG=x; AWSALBTGCORS=x; AWSELB=x; AWSELBCORS=x; ARRAffinity=x; ARRAffinitySameSite=x; GCLB=x; __cflb=x",
    ])
    func `the cookies of analytics scripts do not count`(line: String) throws {
        #expect(try !Self.counts(line))
        #expect(try Self.kept(line).isEmpty)
    }

    @Test(arguments: [
        "sessionid=1", "_ga=x; sessionid=1", "sessionid=1; _ga=x",
        // Rails sessions, named after the application.
        "_gallery_session=BAh7B0kiD3Nlc3Npb25", "_ga_session=1", "_gat_session=BAh7", "_ga_shop=GSX.1.2",
        "_ga_ABC123DEF4=", "_ga_ABC123DEF4=GS1", "_pk_id.1.1fff=secret", "_pk_id.x.y=a.1.b",
        "_pk_ses.1.1fff=abc",
        "_hjSessionUser_x=eyJ9", "_hjSessionUser_1=secret", "_Ga=x", "_GA=GA1.2.3.4", "_gax=1", "_g=1",
        "x_ga=1",
        "_ga", "_ga x=1", "", ";", " ; ;", "=", "=x", "csrftoken=_ga=1",
    ])
    func `any other cookie counts, and so does a line without any`(line: String) throws {
        #expect(try Self.counts(line))
    }

    @Test(arguments: [
        ("a=1; _ga=x; b=2", "a=1; b=2"), ("_ga=x; a=1", "a=1"), ("a=1;_gid=x;", "a=1"), ("a", "a"), ("", ""),
        ("a=\"x; _ga=1", "a=\"x"),
    ])
    func `those that count are kept in their order`(line: String, kept: String) throws {
        #expect(try Self.kept(line) == kept)
    }

    @Test(arguments: ["_ga", "a-b.c", "_ga_*=GS#.*", "x#=y", "a*=#", "a*=*=*"])
    func `an item is a name, or a pattern with a shape`(item: String) {
        #expect(IgnoredCookies.isItem(item))
        #expect(IgnoredCookies([item]) != nil)
    }

    @Test(arguments: [
        "", "_ga*", "#", "a b", "=", "a*=", "a*=*", "a*=**", "*=1", "#*=1", "=x", "a*=x y", "a*=x;y", "ä=1",
        String(repeating: "a", count: 257), "a*=" + String(repeating: "1", count: 257),
    ])
    func `a pattern without a shape is no item`(item: String) {
        #expect(!IgnoredCookies.isItem(item))
        #expect(IgnoredCookies([item]) == nil)
    }

    @Test(arguments: [
        ("a*=x", "ab=x", false), ("a*=x", "a=x", false), ("a*=x", "ba=x", true), ("a*=x", "ab=xy", true),
        ("a#=#", "a1=22", false), ("a#=#", "a1=2a", true), ("a#=#", "a=2", true),
        ("a*z=*.#.*", "abz=..1.", false),
        ("a*z=*.#.*", "abzz=x.12.y", false), ("a*z=*.#.*", "abzy=x.1.y", true),
        ("a*=*b*b*c", "ax=bbbbbbbc", false),
        ("a*=*b*b*c", "ax=bbbbbbb", true),
    ])
    func `wildcards stand for digits and for any characters`(item: String, line: String, counts: Bool) throws
    {
        #expect(try Self.counts(line, [item]) == counts)
    }

    @Test func `a shape takes no longer than the product of both lengths`() throws {
        let shape = "x*=" + String(repeating: "*a", count: 127) + "b"
        #expect(try Self.counts("xy=" + String(repeating: "a", count: 4096), [shape]))
    }

    @Test func `a value of more than 4,096 bytes has no shape`() throws {
        #expect(try !Self.counts("ab=1" + String(repeating: "x", count: 4095), ["a*=1*"]))
        #expect(try Self.counts("ab=1" + String(repeating: "x", count: 4096), ["a*=1*"]))
    }
}
