import Primitives
import Testing

@testable import HTTP

struct StatusTests {
    @Test(arguments: [
        (100, true, true), (103, true, true), (199, true, true), (200, false, false), (204, false, true),
        (205, false, false), (304, false, true), (404, false, false),
    ])
    func `1xx, 204 and 304 have no body`(code: UInt16, isInformational: Bool, isBodiless: Bool) {
        #expect(Status(rawValue: code).isInformational == isInformational)
        #expect(Status(rawValue: code).isBodiless == isBodiless)
    }

    @Test func `an unregistered code has an empty phrase`() {
        #expect("\(Status(rawValue: 299).reason)" == "")
        #expect("\(Status(rawValue: 65_535).reason)" == "")
        #expect("\(Status.requestHeaderFieldsTooLarge.reason)" == "Request Header Fields Too Large")
    }

    @Test(arguments: [
        (Method.get, true, true), (.head, true, true), (.options, true, true), (.trace, true, true),
        (.put, false, true),
        (.query, true, true), (.delete, false, true), (.post, false, false), (.patch, false, false),
        (.connect, false, false),
        (.other("get"), false, false),
    ])
    func `what may be repeated follows from the method`(method: HTTP.Method, isSafe: Bool, isIdempotent: Bool)
    {
        #expect(method.isSafe == isSafe)
        #expect(method.isIdempotent == isIdempotent)
        #expect(HTTP.Method(method.text) == method)
    }

    @Test func `every fault is a token and has an answer of 4xx or 5xx`() {
        #expect(Set(ParseError.allCases.map(\.text)).count == ParseError.allCases.count)
        for fault in ParseError.allCases {
            #expect((400...599).contains(fault.status.rawValue))
            #expect(fault.rawValue.utf8.allSatisfy(ASCII.isToken))
        }
    }
}
