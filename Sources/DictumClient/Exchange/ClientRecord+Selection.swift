internal import Dictionaries
internal import DictionaryFiles
internal import Foundation
internal import Primitives

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

extension ClientRecord {
    /// Returns a digest of the request fields on which a response depends (RFC 9111 section 4.1): those that its Vary names, and those
    /// that may be credentials, since the app may have another user by now.
    static func selection(_ request: URLRequest, _ fields: [ResponseField]) -> String {
        let vary = Vary.names(fields.filter { $0.name.lowercased() == "vary" }.map(\.value))
        let own = (request.allHTTPHeaderFields ?? [:]).keys.filter { !NeutralFields.have($0) }
        let names = Set(vary + own.map { $0.lowercased() }).subtracting(ofDictionaries)
        let lines = names.sorted().map { name in
            name + (request.value(forHTTPHeaderField: name).map { ": " + $0 } ?? "")
        }
        return Digest(of: Array(lines.joined(separator: "\n").utf8).span).hex
    }

    /// The fields that the client sets by itself, and on which no decoded body depends.
    private static let ofDictionaries: Set = ["accept-encoding", "available-dictionary", "dictionary-id"]

    /// Returns true if the response could answer a request, so that the client may ask whether it still does.
    func isSelected(by request: URLRequest) -> Bool { selection == Self.selection(request, fields) }
}
