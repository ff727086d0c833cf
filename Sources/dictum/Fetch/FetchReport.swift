internal import Foundation
internal import HTTP

/// The cost of a fetch, for people and as JSON, where every key is always present.
struct FetchReport: Encodable, Equatable, Sendable {
    let url: String
    let status: Int
    /// The version of HTTP in which the response came: HTTP/2, HTTP/1.1 or HTTP/1.0.
    let `protocol`: String
    /// The coding of the body on the wire; identity if there was no coding or no body.
    let coding: String
    let bodyBytes: Int
    /// The size of the coded body, without the head and the framing.
    let wireBytes: Int
    let savedPercent: Double
    /// The SHA-256 of the decoded body, in hexadecimal.
    let sha256: String
    /// The advertised digest, in hexadecimal.
    @OrNull var advertised: String?
    /// The dictionary's id, which was sent back as Dictionary-ID.
    @OrNull var dictionaryID: String?
    /// True if the body, or a dictionary that a Link names, was kept.
    var stored: Bool
    /// True if the server responded with 304, so that the body is the one kept before.
    let revalidated: Bool
    let milliseconds: Double

    /// Returns the percentage of the body that was not sent, to two decimals; 100 only if nothing was sent.
    static func savedPercent(body: Int, wire: Int) -> Double {
        guard body > 0 else { return 0 }
        let hundredths = ((1 - Double(wire) / Double(body)) * 10_000).rounded()
        return min(hundredths, wire > 0 ? 9_999 : 10_000) / 100
    }

    static func percentText(body: Int, wire: Int) -> String {
        String(format: "%.2f %%", savedPercent(body: body, wire: wire))
    }

    var line: String {
        let code = `protocol` == HTTPVersion.http2.shortText ? "\(status) over \(`protocol`)" : "\(status)"
        let what = revalidated ? "\(code), unchanged, body from the cache" : "\(code), \(coding)"
        let named = dictionaryID.map { ", Dictionary-ID \(OutputFormat.plain($0)) sent back" } ?? ""
        let kept = stored ? ", kept as a dictionary" : ""
        return
            "\(what): \(wireBytes) bytes on the wire for a body of \(bodyBytes), "
            + "\(Self.percentText(body: bodyBytes, wire: wireBytes)) saved\(named)\(kept)"
    }
}

/// A value that is encoded as null if it is nil; the synthesized encoding would leave out its key.
@propertyWrapper struct OrNull<Value: Encodable & Equatable & Sendable>: Encodable, Equatable, Sendable {
    let wrappedValue: Value?

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(wrappedValue)
    }
}
