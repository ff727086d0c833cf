import Dictionaries
import Storage
import Testing

@testable import Proxy

private func mistakes(_ text: String) -> [String] {
    do throws(ConfigurationError) {
        _ = try configuration(text)
        return []
    } catch {
        return error.lines(file: "f")
    }
}

@Suite struct PrivateConfigurationTests {
    @Test func `one item of an identity needs no list`() throws {
        for identity in ["authorization", "[authorization]"] {
            let route = try configuration(
                "routes: [{match: /a, dictionary: {scope: private, identity: \(identity)}}]"
            ).routes[0]
            #expect(route.dictionary?.identity == [.authorization])
            #expect(route.dictionary?.scope == .private)
            #expect(route.dictionary?.privateVersions == 1)
        }
    }

    @Test func `what a private route takes is read`() throws {
        let configuration = try configuration(
            """
            store: {path: /data/d.sqlite, key_file: /keys/k, private_max_size: 2MiB}
            routes:
              - match: /a
                dictionary: {scope: private, identity: ["cookie:sid", "header:X-User", "response:X-Own"], private_versions: 3}
            """)
        let policy = try #require(configuration.routes[0].dictionary)
        #expect(policy.identity.map(\.text) == ["cookie:sid", "header:x-user", "response:x-own"])
        #expect(policy.privateVersions == 3)
        #expect(configuration.policy(of: configuration.routes[0]).scope == .private)
        #expect(configuration.store.keyFileInUse == "/keys/k")
        #expect(configuration.store.privateMaxSize == 2 << 20)
    }

    @Test func `without a name the key lies beside the database, and a store in memory has none`() throws {
        #expect(try configuration("store: {path: /data/d.sqlite}").store.keyFileInUse == "/data/d.sqlite.key")
        #expect(try configuration("").store.keyFileInUse == "./dictum.sqlite.key")
        #expect(try configuration("store: {path: \":memory:\"}").store.keyFileInUse == nil)
        #expect(try configuration("store: {path: \":memory:\", key_file: k}").store.keyFileInUse == "k")
    }

    @Test(arguments: [
        (
            "{scope: private}",
            "f:2:42: routes[0].dictionary.scope: private without identity: expected identity, which tells users apart"
        ),
        (
            "{identity: authorization}",
            "f:2:45: routes[0].dictionary.identity: no effect without scope: private: expected both or neither"
        ),
        (
            "{scope: public, identity: authorization}",
            "f:2:60: routes[0].dictionary.identity: no effect without scope: private: expected both or neither"
        ),
        (
            "{scope: private, identity: authorization, shared_caches: trust}",
            "f:2:91: routes[0].dictionary.shared_caches: trust: expected avoid, since no cache may share private responses"
        ),
        (
            "{scope: private, identity: authorization, delivery: link}",
            "f:2:86: routes[0].dictionary.delivery: link: expected auto or in_band, since Links never name private responses"
        ),
        (
            "{scope: private, identity: authorization, revalidate: true}",
            "f:2:88: routes[0].dictionary.revalidate: true: expected false, since one user's response is not valid for another"
        ),
    ])
    func `scope and identity go together`(dictionary: String, expected: String) {
        #expect(mistakes("routes: [{match: /a, dictionary: \(dictionary)}]") == [expected])
    }

    @Test(arguments: [
        ("{scope: mine}", "scope is \"mine\": expected public or private"),
        (
            "{scope: private, identity: []}",
            "identity is an empty list: expected a list of 1 to 16, each authorization, cookie:NAME"
        ),
        (
            "{scope: private, identity: {a: b}}",
            "identity is a mapping: expected a list of 1 to 16, each authorization"
        ),
        (
            "{scope: private, identity: cookies}",
            "identity is \"cookies\": expected authorization, cookie:NAME"
        ),
        ("{scope: private, identity: [authorization, nobody]}", "identity[1] is \"nobody\": expected"),
        (
            "{scope: private, identity: [\"cookie:a\", \"cookie:a\"]}",
            "(one is named twice): expected each item once"
        ),
        ("{scope: private, identity: \"response:etag\"}", "is \"response:etag\": expected authorization"),
        ("{private_versions: 0}", "private_versions is \"0\": expected a number from 1 to 1000"),
        ("{private_versions: 1001}", "private_versions is \"1001\": expected a number from 1 to 1000"),
    ])
    func `a mistake about identities is told with its place`(dictionary: String, expected: String) {
        let found = mistakes("routes: [{match: /a, dictionary: \(dictionary)}]")
        #expect(found.count == 1)
        #expect(found.first?.contains(expected) == true, "\(found)")
    }

    @Test func `bounds of the private budget`() throws {
        #expect(mistakes("store: {private_max_size: 1048575}").count == 1)
        #expect(mistakes("store: {private_max_size: 1MiB}") == [])
        #expect(mistakes("store: {private_max_size: 16TiB}") == [])
        #expect(mistakes("store: {private_max_size: 17TiB}").count == 1)
        #expect(mistakes("store: {key_file: \"\"}").count == 1)
    }
}
