import Primitives
import Testing

@testable import HTTP

/// Returns the fields of a response with these lines.
func parsed(_ lines: String) throws -> Headers {
    try #require(try parseResponse("HTTP/1.1 200 OK\r\n\(lines)\r\n")).headers
}

/// Returns the fields in wire format.
func written(_ headers: Headers) -> String {
    var output: [UInt8] = []
    headers.write(into: &output)
    return String(output.span)
}
