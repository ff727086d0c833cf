/// Requests whose framing two recipients could read in two ways, made from tables.
enum Disguises {
    /// A kind of disguise; each request is whole for one reading, and holds the beginning of another one for the rest.
    enum Family: String, CaseIterable {
        case transferEncodingName, transferEncodingValue, transferEncodingTwice, contentLength, bothFields,
            chunks
    }

    /// The bytes of each request of a family.
    static func requests(of family: Family) -> [[UInt8]] {
        switch family {
        case .transferEncodingName:
            namedLike("Transfer-Encoding", value: "chunked").flatMap { inEveryPlace($0, chunkedBody) }
        case .transferEncodingValue:
            codings.flatMap { inEveryPlace("Transfer-Encoding: \($0)\r\n", chunkedBody) }
        case .transferEncodingTwice:
            codings.flatMap { coding in
                ["chunked", "identity", "gzip", "x", ""].flatMap { other in
                    [
                        request(
                            "Transfer-Encoding: \(coding)\r\nTransfer-Encoding: \(other)\r\n", chunkedBody),
                        request(
                            "Transfer-Encoding: \(other)\r\ntransfer-encoding: \(coding)\r\n", chunkedBody),
                    ]
                }
            }
        case .contentLength:
            namedLike("Content-Length", value: "5").map { request($0, "0\r\n\r\n" + smuggled) }
                + lengths.flatMap { length in
                    ["GET", "POST", "HEAD", "get"].flatMap { method in
                        [
                            "Content-Length: \(length)\r\n",
                            "Content-Length: 5\r\nContent-Length: \(length)\r\n",
                        ]
                        .map { request($0, "0\r\n\r\n" + smuggled, method: method) }
                    }
                }
        case .bothFields:
            codings.flatMap { coding in
                lengths.prefix(4).flatMap { length in
                    [
                        request("Content-Length: \(length)\r\nTransfer-Encoding: \(coding)\r\n", chunkedBody),
                        request(
                            "Transfer-Encoding: \(coding)\r\nX: 1\r\nContent-Length: \(length)\r\n",
                            chunkedBody),
                    ]
                }
            }
        case .chunks:
            chunkedBodies.map { request("Transfer-Encoding: chunked\r\n", $0 + smuggled) }
        }
    }

    /// Bytes that must never be read as a request, except directly after a complete one.
    private static let smuggled = "GET /smuggled HTTP/1.1\r\nHost: a\r\nX: "
    private static let chunkedBody = "0\r\n\r\n" + smuggled

    private static func request(
        _ lines: String, _ body: String, method: String = "POST", version: String = "HTTP/1.1"
    ) -> [UInt8] {
        Array("\(method) /first \(version)\r\nHost: a\r\n\(lines)\r\n\(body)".unicodeScalars.flatMap(bytes))
    }

    /// Scalars below 256 stand for that byte, so that the tables can name bytes that are no UTF-8.
    private static func bytes(of scalar: Unicode.Scalar) -> [UInt8] {
        scalar.value < 256 ? [UInt8(scalar.value)] : Array(String(scalar).utf8)
    }

    /// Alone, with a length before or behind it, in an old version, and with a method that has no body.
    private static func inEveryPlace(_ line: String, _ body: String) -> [[UInt8]] {
        [
            request(line, body), request("Content-Length: 5\r\n" + line, body),
            request(line + "Content-Length: 5\r\n", body), request(line, body, version: "HTTP/1.0"),
            request(line, body, method: "GET"), request("Connection: Transfer-Encoding\r\n" + line, body),
        ]
    }

    private static func namedLike(_ name: String, value: String) -> [String] {
        let squeezed = name.split(separator: "-").map { String($0) }
        let names =
            ["_", ".", " ", "", "--", "\u{0}", "\u{ad}", "-\u{200b}", "~", "\\-"].map {
                squeezed.joined(separator: $0)
            } + [
                name + " ", name + "\t", " " + name, "\t" + name, name + "\u{b}", name + "\u{c}",
                name + "\u{a0}", name + "\u{85}", name + "\u{0}", "\u{b}" + name, "\u{feff}" + name,
                name + "!",
                "'" + name, "\"\(name)\"", name + "\r", name.uppercased(), "X: 1\n" + name, "X: 1\r" + name,
                "X: 1\r\n " + name, "X: 1\r\n\t" + name, "\r\n" + name, name + ":", "X-" + name, name + "-X",
            ]
        let separators = [
            ":", ":\t", ":  ", " : ", "\t:", ":\u{b}", ":\u{c}", "::", "=", " ", ":\r\n ", ":\r\n\t", ":\n ",
            ":\r", ":\u{0}", ":\u{85}", ":\u{a0}",
        ]
        let ends = ["\n", "\r", "\r\r\n", "\n\r", "\u{0}\r\n", " \r\n", "\t\r\n", "\u{b}\r\n", "\r\n ", ""]
        return names.map { "\($0): \(value)\r\n" } + separators.map { "\(name)\($0)\(value)\r\n" }
            + ends.map { "\(name): \(value)\($0)" }
    }

    private static let codings = [
        "chunked", "Chunked", "CHUNKED", "xchunked", "chunkedx", "chunked;q=1", "chunked ; a=b",
        "chunked, identity", "identity, chunked", "identity", "chunked,", ",chunked", "chunked chunked",
        "chunked, chunked", "\"chunked\"", "'chunked'", "chun\u{0}ked", "chunked\u{b}", "\u{c}chunked",
        "chunked\u{a0}", "\u{85}chunked", "\u{b}chunked", "gzip, chunked", "chunked, gzip", "deflate", "",
        "x",
        "chu nked", "chunked\\", "[chunked]", "chunked\u{7f}", "chun\u{43a}ed", "cow", "chunked\r\n\t, x",
        "\r\n chunked", "chunked\n", "chunked\rx", "chunked=1", "chunked\u{0}", "chunked#", "\\chunked",
        "nothing",
    ]

    private static let lengths = [
        "5", "6", "0", "05", "+5", "-5", "5,5", "5, 5", "5,6", "5;", "0x5", "5.0", "5e0", "5\u{b}", "5\u{a0}",
        "5\u{0}", "\u{665}", "18446744073709551621", "4294967301", "99999999999999999999999", "", "five",
        "5 5",
        "\"5\"", "5\r\n 0", "0,5", "1_0", "00", "5\r", "5\nX: y", "\u{85}5", "5\u{7f}", "-0", "5%", "5\t6",
    ]

    private static let chunkedBodies = [
        "0\r\n\r\n", "00\r\n\r\n", "0\n\n", "0\r\n\n", "0\n\r\n", "0\r\r\n\r\n", "0\r\n\r", "0 \r\n\r\n",
        " 0\r\n\r\n", "0x0\r\n\r\n", "-0\r\n\r\n", "+0\r\n\r\n", "0;\r\n\r\n", "0;a\r\n\r\n",
        "0;a=\"\r\n\r\n",
        "0;a=b\nc\r\n\r\n", "0;\n\r\n", "0\u{b}\r\n\r\n", "0\u{0}\r\n\r\n", "0\u{a0}\r\n\r\n", "g\r\n\r\n",
        "\r\n\r\n",
        "1\r\nab\r\n0\r\n\r\n", "2\r\na\r\n0\r\n\r\n", "1\r\na0\r\n\r\n", "1\r\na\n0\r\n\r\n",
        "1\r\na\r0\r\n\r\n",
        "1\na\r\n0\r\n\r\n", "10000000000000001\r\na\r\n0\r\n\r\n", "ffffffffffffffff\r\na\r\n0\r\n\r\n",
        "fffffffffffffffff0\r\n\r\n", "0\r\nContent-Length: 5\r\n\r\n",
        "0\r\nTransfer-Encoding: chunked\r\n\r\n",
        "0\r\nHost: b\r\n\r\n", "0\r\nX: a\n\r\n", "0\r\n X: a\r\n\r\n", "0\r\nX : a\r\n\r\n",
        "0\r\nContent_Length: 5\r\n\r\n", "0,0\r\n\r\n", "0\r\n\r\n\r\n", "1_0\r\n\r\n",
        "5;a=b\r\nhello\r\n0\r\n\r\n",
        "5;\r\nhello\r\n0\r\n\r\n", "5;a=\"\r\n\"\r\nhello\r\n0\r\n\r\n", "1\r\na\r\n\r\n",
        "1\r\na\r\n0\r\nX\r\n\r\n",
    ]
}
