internal import Dictionaries
internal import DictionaryFiles
internal import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

extension ClientRecord {
    /// Returns a digest of the request fields on which a response depends.
    static func selection(_ request: URLRequest, _ fields: [ResponseField]) -> String {
        RequestSelection.digest(
            vary: fields.lines("vary"), sent: (request.allHTTPHeaderFields ?? [:]).keys
        ) { request.value(forHTTPHeaderField: $0) }
    }

    /// Returns true if the response could answer a request, so that the client may ask whether it still does.
    func isSelected(by request: URLRequest) -> Bool { selection == Self.selection(request, fields) }
}
