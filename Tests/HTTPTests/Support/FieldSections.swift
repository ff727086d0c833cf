import Testing

@testable import HTTP

/// The fields of a response with these lines.
func parsed(_ lines: String) throws -> Headers {
    try #require(try parseResponse("HTTP/1.1 200 OK\r\n\(lines)\r\n")).headers
}

/// The fields as they go on the wire.
func written(_ headers: Headers) -> String {
    var output: [UInt8] = []
    headers.write(into: &output)
    return String(output.span)
}
