import Dictionaries
import DictumClient
import Foundation
import FoundationNetworking
import Primitives
import Testing

/// The adapter of URLSession over a protocol that delivers raw bytes, as the system does on Apple's platforms for
/// codings that it does not know.
@Suite(.serialized) struct URLSessionTests {
    private let folder = ClientFolder()

    @Test func `a session's second response is a delta`() async throws {
        RawProtocol.received.withLock { $0 = [] }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [RawProtocol.self]
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        let client = try folder.client()
        for version in 0..<2 {
            let (body, head) = try await client.data(from: feedURL, using: session)
            #expect(body == feed(version) && head.statusCode == 200)
        }
        let requests = RawProtocol.received.withLock { $0 }
        #expect(
            requests.map { $0.value(forHTTPHeaderField: "Available-Dictionary") } == [nil, name(of: feed(0))])
        #expect(requests.allSatisfy { $0.cachePolicy == .reloadIgnoringLocalCacheData })
    }

    @Test func `a session says which fields it adds`() throws {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpAdditionalHeaders = ["X-API-Key": "k"]
        let cookies = ["b", "a"].compactMap {
            HTTPCookie(properties: [.name: $0, .value: "1", .path: "/", .domain: "api.test"])
        }
        for cookie in cookies { configuration.httpCookieStorage?.setCookie(cookie) }
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        var request = URLRequest(url: feedURL)
        #expect(session.fieldsAdded(to: request) == ["X-API-Key": "k", "Cookie": "a=1; b=1"])
        request.httpShouldHandleCookies = false
        #expect(session.fieldsAdded(to: request) == ["X-API-Key": "k"])
        let other = URLRequest(url: try #require(URL(string: "https://other.test/")))
        #expect(session.fieldsAdded(to: other) == ["X-API-Key": "k"])
        configuration.httpShouldSetCookies = false
        let careful = URLSession(configuration: configuration)
        defer { careful.invalidateAndCancel() }
        #expect(careful.fieldsAdded(to: URLRequest(url: feedURL)) == ["X-API-Key": "k"])
    }

    @Test func `a background session is refused with words, before anything is sent`() async throws {
        RawProtocol.received.withLock { $0 = [] }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [RawProtocol.self]
        // Foundation on Linux makes no background session, but each has an identifier.
        configuration.identifier = "test.background"
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        let client = try folder.client()
        let error = await #expect(throws: DictionaryClientError.backgroundSession) {
            try await client.data(from: feedURL, using: session)
        }
        #expect("\(try #require(error))".contains("use a default or ephemeral session"))
        #expect(RawProtocol.received.withLock { $0 }.isEmpty)
    }
}

/// Serves version 0, and to those who name it a delta to version 1.
private final class RawProtocol: URLProtocol {
    static let received = Guarded<[URLRequest]>([])

    override class func canInit(with request: URLRequest) -> Bool { true }

    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    override func startLoading() {
        Self.received.withLock { $0.append(request) }
        let isNamed = request.value(forHTTPHeaderField: "Available-Dictionary") != nil
        var fields = ["Cache-Control": "max-age=600", "Use-As-Dictionary": "match=\"/feed\""]
        var body = [UInt8](feed(0))
        if isNamed,
            let coded = try? Codec.encode(
                [UInt8](feed(1)).span, .dcz, options: EncoderOptions(dictionary: .reference(Body(body))))
        {
            (fields["Content-Encoding"], body) = ("dcz", coded)
        }
        guard
            let response = HTTPURLResponse(
                url: feedURL, statusCode: 200, httpVersion: nil, headerFields: fields)
        else { return }
        client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
        client?.urlProtocol(self, didLoad: Data(body))
        client?.urlProtocolDidFinishLoading(self)
    }

    override func stopLoading() {}
}
