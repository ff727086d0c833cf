#if canImport(FoundationNetworking)
internal import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

/// A session of the app, except a background session.
///
/// On Linux a session refuses codings that it does not know, and delivers each body whole: use another transport there.
extension URLSession: Transport {
    /// The codings that the system undoes, whichever Accept-Encoding is sent.
    public var decodedCodings: [String] {
        #if canImport(FoundationNetworking)
        ["gzip", "deflate"]
        #else
        ["gzip", "deflate", "br"]
        #endif
    }

    /// Returns the additional fields of the session, and the cookies of its storage.
    public func fieldsAdded(to request: URLRequest) -> [String: String] {
        let configuration = configuration
        var fields: [String: String] = [:]
        for (name, value) in configuration.httpAdditionalHeaders ?? [:] { fields["\(name)"] = "\(value)" }
        if request.httpShouldHandleCookies, configuration.httpShouldSetCookies, let url = request.url {
            let cookies = configuration.httpCookieStorage?.cookies(for: url) ?? []
            // A storage may return them in any order.
            let text = cookies.map { "\($0.name)=\($0.value)" }.sorted().joined(separator: "; ")
            if !text.isEmpty { fields["Cookie"] = text }
        }
        return fields
    }

    /// Sends a request; throws for a background session, whose bodies the system writes to files undecoded.
    public func send(_ request: URLRequest) async throws -> TransportResponse {
        guard configuration.identifier == nil else { throw DictionaryClientError.backgroundSession }
        let receiver = SessionReceiver()
        #if canImport(FoundationNetworking)
        // This Foundation asks the delegate of a task about redirects, and gives it no data.
        let (body, response) = try await data(for: request, delegate: receiver)
        return try SessionReceiver.response(of: response, body: TransportResponse.pieces(of: body))
        #else
        let task = dataTask(with: request)
        task.delegate = receiver
        return try await receiver.response(of: task)
        #endif
    }
}
