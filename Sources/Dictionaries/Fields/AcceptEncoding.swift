internal import Primitives

/// The weights of a request's Accept-Encoding (RFC 9110 section 12.5.3).
package struct AcceptEncoding: Equatable, Sendable {
    /// Weights by coding in thousandths; -1 if the field does not name the coding.
    private var gzip: Int16 = -1
    private var br: Int16 = -1
    private var zstd: Int16 = -1
    private var dcb: Int16 = -1
    private var dcz: Int16 = -1
    private var identity: Int16 = -1
    private var wildcard: Int16 = -1

    /// Reads the lines of the field.
    ///
    /// A malformed member is ignored. If a coding is named twice, the lower weight counts. Without the field any
    /// coding would be allowed, but a client that sends none gets identity only.
    package init(_ lines: [String]) {
        for line in lines {
            read(line.utf8Bytes.span)
        }
    }

    /// Returns the weight of a coding in thousandths, 0 if it is not acceptable.
    ///
    /// Identity that is neither named nor covered by `*` is acceptable with weight 1, below all that is named.
    package func quality(of coding: ContentCoding) -> Int {
        switch coding {
        // RFC 9842 section 6.1: a dictionary coding must be named, since `*` says nothing of the dictionary.
        case .dcb: max(0, Int(dcb))
        case .dcz: max(0, Int(dcz))
        case .gzip: plain(gzip)
        case .br: plain(br)
        case .zstd: plain(zstd)
        case .identity: identity >= 0 ? Int(identity) : wildcard >= 0 ? Int(wildcard) : 1
        }
    }

    private func plain(_ weight: Int16) -> Int {
        max(0, Int(weight >= 0 ? weight : wildcard))
    }

    package mutating func read(_ text: Span<UInt8>) {
        var members = ListMembers(0..<text.count)
        while let member = members.next(in: text) {
            let end = FieldSyntax.tokenEnd(from: member.lowerBound, in: text, limit: member.upperBound)
            if let weight = Self.weight(end..<member.upperBound, in: text) {
                setWeight(member.lowerBound..<end, weight, in: text)
            }
        }
    }

    private mutating func setWeight(_ name: Range<Int>, _ weight: Int16, in text: Span<UInt8>) {
        switch name.count {
        case 1 where text[name.lowerBound] == UInt8(ascii: "*"): lower(&wildcard, to: weight)
        case 2 where text.extracting(name).equalsIgnoringCase("br"): lower(&br, to: weight)
        case 3:
            // RFC 9110 section 8.4.1: content codings are case-insensitive.
            if text.extracting(name).equalsIgnoringCase("dcb") { lower(&dcb, to: weight) }
            if text.extracting(name).equalsIgnoringCase("dcz") { lower(&dcz, to: weight) }
        case 4 where text.extracting(name).equalsIgnoringCase("gzip"): lower(&gzip, to: weight)
        case 4 where text.extracting(name).equalsIgnoringCase("zstd"): lower(&zstd, to: weight)
        // RFC 9110 section 8.4.1.3: x-gzip is equivalent to gzip.
        case 6 where text.extracting(name).equalsIgnoringCase("x-gzip"): lower(&gzip, to: weight)
        case 8 where text.extracting(name).equalsIgnoringCase("identity"): lower(&identity, to: weight)
        default: break
        }
    }

    private func lower(_ known: inout Int16, to weight: Int16) {
        known = known < 0 ? weight : min(known, weight)
    }

    /// Returns the weight behind a coding's name: 1000 if there is none, nil if it is malformed.
    ///
    /// RFC 9110 section 12.4.2: `weight = OWS ";" OWS "q=" qvalue`. A qvalue is 0 to 1 with at most three decimals.
    private static func weight(_ range: Range<Int>, in text: Span<UInt8>) -> Int16? {
        let whole = text.trimmedRange(range)
        if whole.isEmpty { return 1000 }
        guard text[whole.lowerBound] == UInt8(ascii: ";") else { return nil }
        let parameter = text.trimmedRange(whole.lowerBound + 1..<whole.upperBound)
        guard parameter.count >= 3, parameter.count <= 7,
            ASCII.lowercased(text[parameter.lowerBound]) == UInt8(ascii: "q"),
            text[parameter.lowerBound + 1] == UInt8(ascii: "=")
        else { return nil }
        return qvalue(parameter.lowerBound + 2..<parameter.upperBound, in: text)
    }

    private static func qvalue(_ range: Range<Int>, in text: Span<UInt8>) -> Int16? {
        let first = text[range.lowerBound]
        guard first == UInt8(ascii: "0") || first == UInt8(ascii: "1") else { return nil }
        var value = Int16(first - UInt8(ascii: "0")) * 1000
        guard range.count > 1 else { return value }
        guard text[range.lowerBound + 1] == UInt8(ascii: ".") else { return nil }
        var unit: Int16 = 100
        for index in range.dropFirst(2) {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(text[index]) else { return nil }
            value += Int16(text[index] - UInt8(ascii: "0")) * unit
            unit /= 10
        }
        return value <= 1000 ? value : nil
    }
}
