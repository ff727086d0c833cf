internal import Dictionaries
internal import Testing

/// RFC 8288 and RFC 9842 section 3.
struct LinkFieldTests {
    @Test(arguments: [
        "", "</d>", "</d>; rel=preload", "</d>; rel=\"compression-dictionary2\"",
        "/d; rel=compression-dictionary",
        "</d; rel=compression-dictionary", "</d>; rel", "</d>; rel=",
        "</d>; title=\"rel=compression-dictionary\"",
        "</d>; rel=next; rel=compression-dictionary", "</d>; rel=compression-dictionary; anchor=\"/other\"",
        "</d>, rel=compression-dictionary", "</d> , </e>; rel=next",
        "</a>; title=\"<b>; rel=compression-dictionary\"",
    ])
    func `a link of another relation or context is none of a dictionary`(line: String) {
        #expect(LinkField.dictionaryTargets([line]).isEmpty)
    }

    @Test(arguments: [
        ("</d>; rel=\"compression-dictionary\"", ["/d"]), ("</d>;rel=compression-dictionary", ["/d"]),
        ("</d> ; REL = \"Compression-Dictionary\" ; as=x", ["/d"]),
        ("</d>; rel=\"preload compression-dictionary next\"", ["/d"]),
        ("</a,b;c>; rel=compression-dictionary", ["/a,b;c"]), ("<>; rel=compression-dictionary", [""]),
        ("</a>, </b>; rel=compression-dictionary, </c>; rel=compression-dictionary", ["/b", "/c"]),
        ("</a> , </b>; rel=compression-dictionary", ["/b"]),
        ("</a>; title=\"x, \\\"y\"; rel=compression-dictionary, </b>; rel=next", ["/a"]),
        (",, </a>; rel=compression-dictionary,", ["/a"]),
    ])
    func `the targets of the relation are found`(line: String, targets: [String]) {
        #expect(LinkField.dictionaryTargets([line]) == targets)
    }

    @Test func `a malformed line does not spoil the next`() {
        let lines = ["nonsense", "</a>; rel=compression-dictionary"]
        #expect(LinkField.dictionaryTargets(lines) == ["/a"])
    }

    @Test func `targets are counted up to their limit`() {
        let link = "</a>; rel=compression-dictionary"
        let line = Array(repeating: link, count: LinkField.targetsMax + 1).joined(separator: ", ")
        #expect(LinkField.dictionaryTargets([line, line]).count == LinkField.targetsMax)
        #expect(LinkField.targetsMax == 16)
    }
}
