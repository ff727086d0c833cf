internal import Dictionaries
internal import Storage
internal import Testing

/// `/.dictum/CHAIN/DIGEST`.
struct DictionaryPathTests {
    private static let digest = Digest(of: Array("body".utf8).span)
    private static let chain = ChainKey(authority: "api.test", match: "/feed").name
    private static let path = "/.dictum/\(chain)/\(digest.base64URL)"

    @Test func `a path is read as it is written`() throws {
        let path = DictionaryPath(chainName: Self.chain, digest: Self.digest)
        #expect(path.text == Self.path)
        #expect(DictionaryPath(Self.path) == path)
        #expect(Self.path.utf8.allSatisfy { $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "=") })
    }

    @Test(arguments: [
        "/.dictum", "/.dictum/", "/.dictum/\(chain)", "/.dictum/\(chain)/", "\(path)/", "\(path)=",
        "/x\(path)", "/.dictum//\(digest.base64URL)", "/.dictum/\(chain)x/\(digest.base64URL)",
        "/.dictum/\(chain)/\(digest.base64URL.dropLast())", "/.dictum/\(chain)/\(digest.hex)",
        "/.dictum/\(chain)/\(chain)/\(digest.base64URL)", "/.DICTUM/\(chain)/\(digest.base64URL)",
    ])
    func `any other path is none`(text: String) {
        #expect(DictionaryPath(text) == nil)
    }

    @Test(arguments: [
        ("/.dictum", true), ("/.dictum/", true), ("/.dictum/x", true), ("/.dictumx", false),
        ("/dictum/", false), ("/a/.dictum/", false), ("/", false),
    ])
    func `all below the folder is reserved, and nothing else`(path: String, isReserved: Bool) {
        #expect(DictionaryPath.isReserved(path) == isReserved)
    }

    @Test func `chains that differ in any part have different names`() {
        let names = [
            ChainKey(authority: "api.test", match: "/feed"),
            ChainKey(authority: "api.test:81", match: "/feed"),
            ChainKey(authority: "api.tes", match: "t/feed"),
            ChainKey(authority: "api.test", match: "/feed", matchDest: ["script"]),
            ChainKey(authority: "api.test", match: "/feed", matchDest: ["scr", "ipt"]),
            ChainKey(authority: "api.test", match: "/feed", matchDest: [""]),
            ChainKey(authority: "api.test", match: "/feed6:script"),
        ].map(\.name)
        #expect(Set(names).count == names.count)
        #expect(names.allSatisfy { $0.utf8.count == DictionaryPath.chainNameLength })
    }
}
