#if canImport(FoundationNetworking)
internal import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

/// A session delivers each body whole, so that `stream(for:using:)` saves no memory with it.
///
/// On Linux a session refuses codings that it does not know: use another transport there.
extension URLSession: Transport {
    /// The codings that the system undoes, whichever Accept-Encoding is sent.
    public var decodedCodings: [String] {
        #if canImport(FoundationNetworking)
        ["gzip", "deflate"]
        #else
        ["gzip", "deflate", "br"]
        #endif
    }

    /// Sends a request; throws for a background session, whose bodies the system writes to files undecoded.
    public func send(_ request: URLRequest) async throws -> TransportResponse {
        guard configuration.identifier == nil else { throw DictionaryClientError.backgroundSession }
        let (body, response) = try await data(for: request, delegate: RedirectRefusal())
        guard let response = response as? HTTPURLResponse else { throw DictionaryClientError.notHTTP }
        let fields = response.allHeaderFields.map { (name: "\($0.key)", value: "\($0.value)") }
        return TransportResponse(status: response.statusCode, fields: fields, body: body)
    }
}

/// A delegate that lets the client follow redirects itself: a dictionary must not be named to another origin.
private final class RedirectRefusal: NSObject, URLSessionTaskDelegate {
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }
}
