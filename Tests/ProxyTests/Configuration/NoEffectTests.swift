import TestSupport
import Testing

@testable import Proxy

/// Settings that are valid one by one: what together has no effect is told, and what is as it should be is not.
@Suite struct NoEffectTests {
    private func warnings(_ text: String) throws -> [String] {
        try configuration(text).warningLines(file: "f")
    }

    @Test(arguments: [
        ("limits: {client: {burst: 10}}", "limits.client.burst has no effect without rate"),
        ("limits: {client: {by: \"header:X-Key\"}}", "limits.client.by has no effect without rate"),
        (
            "routes: [{match: /a, dictionary: {private_versions: 4}}]",
            "routes[0].dictionary.private_versions has no effect without scope: private"
        ),
        ("routes: [{match: /a, limits: {burst: 10}}]", "routes[0].limits.burst has no effect without rate"),
        ("store: {max_size: 1MiB, private_max_size: 1GiB}", "store.private_max_size is larger than max_size"),
        (
            "store: {shared: {url: \"redis://h\", ca: /x.pem}}",
            "store.shared.ca has no effect: the URL is not rediss"
        ),
        ("trusted_proxies: [loopback, 0.0.0.0/0]", "trusted_proxies has \"0.0.0.0/0\", which is everybody"),
        ("trusted_proxies: [\"::/0\"]", "trusted_proxies has \"::/0\", which is everybody"),
        ("trusted_proxies: [10.1.2.3/8]", "stands for all addresses with the same 8 bits"),
        ("mode: observe\ndictionaries: off", "mode: observe has no effect with dictionaries: off"),
        (
            "routes: [{match: /a, mode: observe}]\ndictionaries: off",
            "routes[0].mode: observe has no effect with dictionaries: off"
        ),
        ("experiment: on\ndictionaries: off", "experiment compares nothing: no route sends deltas"),
        ("experiment: on\nmode: observe", "experiment compares nothing: no route sends deltas"),
        ("observe: {cpu: 1%}", "observe has no effect: no route is observed"),
        (
            "compression: {min_size: 2MiB}\nroutes: [{match: /a, dictionary: {max_body: 1MiB}}, {match: /b, dictionary: {max_body: 1MiB}}]",
            "compression.min_size is larger than max_body of routes[0], routes[1], where no dictionaries are then"
        ),
        (
            "listeners: [{address: \"0.0.0.0:1\", proxy_protocol: on}]",
            "listeners[0].proxy_protocol: connections from other machines are closed"
        ),
    ])
    func `a setting without effect is told at its place`(text: String, words: String) throws {
        let found = try warnings(text)
        #expect(found.count == 1 && found[0].hasPrefix("f:2:") && found[0].contains(words), "\(found)")
    }

    @Test(arguments: [
        "limits: {client: {rate: 10/s, burst: 10}}", "store: {max_size: 1GiB, private_max_size: 1GiB}",
        "store: {shared: {url: \"rediss://h\", ca: /x.pem}}",
        "trusted_proxies: [10.1.2.3, 10.0.0.0/8, \"2001:db8::/32\"]",
        "listeners: [{address: \"0.0.0.0:1\", proxy_protocol: on}]\ntrusted_proxies: [10.0.0.0/8]",
        "listeners: [{address: \"127.0.0.1:1\", proxy_protocol: on}]",
        "experiment: on\nmode: observe\nroutes: [{match: /a, mode: live}, {match: /b}]",
        "observe: {cpu: 1%}\nroutes: [{match: /a, mode: observe}]", "experiment: off\ndictionaries: off",
        "compression: {min_size: 2MiB}\nroutes: [{match: /a, dictionary: {max_body: 1MiB}}]\ndictionaries: off",
        "compression: {min_size: 1MiB}\nroutes: [{match: /a, dictionary: {max_body: 1MiB}}]",
    ])
    func `a setting with an effect is not`(text: String) throws {
        #expect(try warnings(text) == [])
    }

    @Test func `settings of TLS for an upstream without TLS are told`() throws {
        let text = "upstream: {urls: [\"http://127.0.0.1:9\"], tls: {verify: off}}"
        let found = try Configuration.parse(Array(text.utf8)).warningLines(file: "f")
        #expect(
            found.count == 1 && found[0].contains("upstream.tls has no effect: no URL is https"), "\(found)")
    }

    @Test(arguments: [
        "Host", "Dictionary-ID", "Content-MD5", "X-Real-IP", "Cookie", "traceparent", "Via", "TE",
    ])
    func `a field that has another use is no field of Dictum's own`(name: String) {
        #expect(mistakes("request_id: \(name)").count == 1)
        let listener = "listeners: [{address: \"127.0.0.1:1\", tls: {client_subject_field: \(name)}}]"
        #expect(mistakes(listener).contains { $0.contains("client_subject_field is \"\(name)\"") })
    }

    @Test func `certificates of clients cannot be asked for without their authority`() {
        let listener =
            "listeners: [{address: \"127.0.0.1:1\", tls: {certificate: /c, private_key: /k, client_auth: required}}]"
        #expect(
            mistakes(listener).contains {
                $0.contains(": listeners[0].tls.client_auth: no effect without client_ca")
            })
    }

    @Test(arguments: ["user:s3cret", "user:s/3cret", "user:s 3cret", "user:3cret@s"])
    func `the user information of a URL is not repeated`(user: String) {
        let text = "upstream: {urls: [\"http://\(user)@h\"]}"
        let found = mistakes(inWhole: Array(text.utf8))
        #expect(
            found.count == 1 && !found[0].contains("3cret") && found[0].contains("(redacted)@h"), "\(found)")
    }

    @Test(arguments: [
        ("localhost:8", "127.0.0.1:8", true), ("LOCALHOST:8", "0.0.0.0:8", true),
        ("localhost:8", "127.0.0.2:8", false),
        ("localhost:8", "[::1]:8", false), ("localhost:8", "127.0.0.1:9", false),
        ("a.test:8", "127.0.0.1:8", false),
        ("a.test:8", "[::]:8", true),
    ])
    func `a name overlaps with an address that it surely stands for`(
        one: String, other: String, isTaken: Bool
    ) {
        let found = mistakes("listeners: [{address: \"\(one)\"}, {address: \"\(other)\"}]")
        #expect(found.contains { $0.contains("overlaps") } == isTaken, "\(found)")
    }

    @Test(arguments: ["X-Request-ID", "x_request_id"])
    func `a field that both request_id and client_subject_field fill is told`(name: String) throws {
        let certificates = try TestCertificates()
        let listener = """
            listeners:
              - address: "127.0.0.1:1"
                tls:
                  certificate: \(certificates.file("server.pem"))
                  private_key: \(certificates.file("server.key"))
                  client_ca: \(certificates.file("ca.pem"))
                  client_subject_field: \(name)
            """
        let words = "client_subject_field is the field of request_id, which is set in its place"
        let found = try warnings(listener)
        #expect(found.count == 1 && found[0].hasSuffix(words), "\(found)")
        #expect(try warnings(listener + "\nrequest_id: X-Trace") == [])
        withExtendedLifetime(certificates) {}
    }
}
