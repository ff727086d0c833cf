internal import Dictionaries
internal import Testing

struct NormalPathTests {
    @Test(arguments: [
        "", "a", "*", "/./a", "/a/.", "/a/..", "/../a", "/.", "/..", "/a/%2e/b", "/a/%2E%2e/b", "/a/.%2e",
        "/%2e", "//", "//a", "/a//b",
        "/a//", "/%61", "/%41", "/%30", "/%7E", "/%7e", "/%2D", "/%5f", "/a%2fb", "/a%2Fb", "/a%5cb",
        "/a%5Cb", "/a\\b", "/a b",
        "/..;/a", "/a/.;x", "/a/..;x=1/b", "/a\u{E9}", "/a\0", "/a\u{7F}", "/%", "/%2", "/%g0", "/%0g", "/a%",
        "/a?b", "/a#b", "/a\n",
    ])
    func `a path of another spelling is not normal`(path: String) {
        #expect(!NormalPath.isNormal(path))
    }

    @Test(arguments: [
        "/", "/a", "/a/", "/a/b.c", "/...", "/.a", "/a.", "/..a/b", "/a%20b", "/%C3%A9", "/%c3%a9", "/a:b",
        "/%3A", "/a;b=c,d", "/..a;b", "/...;b", "/;..", "/~a_-.x",
        "/a+b", "/%25", "/%2520", "/a'()*!$&@", "/.well-known/x", "/%00",
    ])
    func `a path of the only spelling is normal`(path: String) {
        #expect(NormalPath.isNormal(path))
    }
}
