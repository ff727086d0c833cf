internal import Dictionaries
internal import Testing

struct CapturesTests {
    @Test(arguments: [
        ("/app/:name.:hash.js", "/app/main.1a2b.js", ["name": "main", "hash": "1a2b"]),
        ("/app/:name.:hash.js", "/app/a.b.c.js", ["name": "a", "hash": "b.c"]),
        ("/*/:x/*", "/a/b/c/d", ["0": "a/b", "x": "c", "1": "d"]),
        ("/a/:b?", "/a", [:]), ("/a/:b?", "/a/c", ["b": "c"]), ("/a/:b+", "/a/c/d", ["b": "c/d"]),
        ("/a{-:b.}+", "/a-1.-2.", ["b": "1.-2"]), ("/*", "/", ["0": ""]), ("/:a", "/%20", ["a": "%20"]),
        ("/a", "/a", [:]),
        // The optional group takes all at first, and gives it up for what follows.
        ("/a/:b?/*", "/a/c", ["0": "c"]), ("/a/:b?/*", "/a/c/d", ["b": "c", "0": "d"]),
        // A group that took part is there, though it matched nothing.
        ("/:a/*", "/b/", ["a": "b", "0": ""]),
    ])
    func `groups hold what the standard says`(pattern: String, path: String, captures: [String: Substring])
        throws
    {
        #expect(try URLPattern(pattern).captures(path: path, query: nil) == captures)
    }

    @Test func `groups of the query are there too, those of the path hide them`() throws {
        let pattern = try URLPattern("/:a/*\\?v=:v&w=*")
        #expect(pattern.groupNames == ["a", "0", "v", "0"])
        let captures = pattern.captures(path: "/x/y", query: "v=1&w=2")
        #expect(captures == ["a": "x", "0": "y", "v": "1"])
    }

    @Test func `what does not match has no captures`() throws {
        #expect(try URLPattern("/a/:b").captures(path: "/b", query: nil) == nil)
        #expect(try URLPattern("/a/:b?x=*").captures(path: "/a/b", query: "y") == nil)
    }
}
