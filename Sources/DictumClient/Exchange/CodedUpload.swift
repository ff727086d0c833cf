internal import Dictionaries
internal import DictionaryFiles
internal import Foundation
internal import Primitives

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// A request of the app whose body is coded over what the app has fetched from the same URL (RFC 9842 section 5); pure.
struct CodedUpload {
    let request: URLRequest
    let dictionary: VerifiedDictionary

    /// Codes the body; returns nil if the coded form is not shorter.
    init?(_ request: URLRequest, over dictionary: VerifiedDictionary) {
        guard let body = request.httpBody,
            DictionaryFit.dczIsPossible(dictionaryBytes: dictionary.body.count, bodyBytes: body.count)
        else { return nil }
        let plain = [UInt8](body)
        let options = EncoderOptions(bodyBytes: plain.count, dictionary: .reference(dictionary.body))
        guard let coded = try? Codec.encode(plain.span, .dcz, options: options), coded.count < plain.count
        else { return nil }
        var request = request
        request.httpBody = Data(coded)
        request.setValue(ContentCoding.dcz.token, forHTTPHeaderField: "Content-Encoding")
        request.setValue(nil, forHTTPHeaderField: "Content-Length")
        let id = dictionary.record.dictionary.id
        if !id.isEmpty {
            request.setValue(DictionaryID.serialized(id), forHTTPHeaderField: "Dictionary-ID")
        }
        (self.request, self.dictionary) = (request, dictionary)
    }

    /// The fields that describe the bytes of the body.
    private static let bodyFields = [
        "Content-Encoding", "Content-Range", "Content-MD5", "Content-Digest", "Repr-Digest", "Digest",
    ]

    /// Returns true if a request has a body that the client may code: at a trustworthy origin, and described by no field.
    static func isPossible(_ request: URLRequest, _ target: TargetURI) -> Bool {
        target.isTrustworthy && request.httpBody?.isEmpty == false
            && (bodyFields + ["Dictionary-ID"]).allSatisfy { request.value(forHTTPHeaderField: $0) == nil }
    }

    /// Returns true if a 415 refuses the dictionary: the coding itself is accepted.
    static func isAboutDictionary(_ head: TransportResponse) -> Bool {
        AcceptEncoding(head.lines("accept-encoding")).quality(of: .dcz) > 0
    }
}
