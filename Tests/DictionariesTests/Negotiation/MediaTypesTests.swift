internal import Dictionaries
internal import Testing

struct MediaTypesTests {
    @Test(arguments: [
        ("application/json", true), ("Application/JSON; charset=utf-8", true), (" application/json ;x", true),
        ("application/problem+json", true),
        ("application/+json", true), ("application/json+x", false), ("application/xml", false),
        ("text/html", true), ("text/", true), ("text", false),
        ("xtext/html", false), ("", false), (";", false), ("text/event-stream", false),
        ("TEXT/Event-Stream; x=1", false), ("application/ld+jsonx", false),
        ("a/json, text/html", false),
    ])
    func `types match by name or pattern, without case and parameters`(contentType: String, contains: Bool) {
        let types = MediaTypes(["application/json", "Application/*+JSON", "text/*"])
        #expect(types.contains(contentType) == contains)
    }

    @Test(arguments: [
        "application/json", "Application/JSON", "application/json; charset=utf-8", "a\u{e9}/b", "",
    ])
    func `a Content-Type becomes text as it came, listed or not`(contentType: String) {
        let types = MediaTypes(["text/html", "application/json", "text/*"])
        #expect(types.text(of: contentType.utf8.span) == contentType)
    }

    @Test func `no type is of no set`() {
        #expect(!MediaTypes(["*"]).contains(nil))
        #expect(MediaTypes(["*"]).contains("a/b"))
        #expect(MediaTypes(["*/*"]).contains("a/b"))
        #expect(!MediaTypes([]).contains("a/b"))
    }

    @Test(arguments: [
        ("a/b", true), ("cd/e", true), ("f/g", true), ("a/bc", false), ("b/cd", false), ("a/bcd/e", false),
    ])
    func `of several types each counts whole`(contentType: String, contains: Bool) {
        #expect(MediaTypes(["a/b", "cd/e", "f/g"]).contains(contentType) == contains)
    }

    @Test(arguments: [
        ("text/html", true), ("Text/HTML ;charset=utf-8", true), ("application/xhtml+xml; x", true),
        ("text/html5", false), ("application/xml", false), ("application/json; text/html", false),
    ])
    func `documents are HTML in both syntaxes`(contentType: String, isDocument: Bool) {
        #expect(MediaTypes.isDocument(contentType) == isDocument)
        #expect(!MediaTypes.isDocument(nil))
    }

    @Test func `text event-stream is of the set by its exact name only`() {
        #expect(!MediaTypes(["*", "text/*", "text/event*"]).contains("text/event-stream"))
        #expect(MediaTypes(["TEXT/EVENT-STREAM"]).contains("text/event-stream;charset=utf-8"))
        #expect(MediaTypes.isEventStream("Text/Event-Stream ; a=b"))
        #expect(!MediaTypes.isEventStream("text/event-streams"))
        #expect(!MediaTypes.isEventStream(nil))
    }
}
