public import Foundation
internal import Primitives

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// The part of an app that carries requests, such as `URLSession` or an HTTP client over SwiftNIO.
///
/// A transport sends a request once. It follows no redirects, answers from no cache, and leaves a body coded as it
/// came, except in `decodedCodings`.
public protocol Transport: Sendable {
    /// The codings that the transport undoes before it delivers a body, as tokens of Accept-Encoding.
    var decodedCodings: [String] { get }

    /// Returns the fields that the transport adds to a request which lacks them, such as cookies; by default none.
    ///
    /// They may be credentials: the client asks whether a held body is current only with those that it came with.
    func fieldsAdded(to request: URLRequest) -> [String: String]

    /// Sends a request and returns the response as soon as its head is there.
    ///
    /// If the task is cancelled, the transport gives the request up and throws.
    func send(_ request: URLRequest) async throws -> TransportResponse
}

extension Transport {
    /// Returns no fields, for a transport that adds none.
    public func fieldsAdded(to request: URLRequest) -> [String: String] { [:] }

    /// Returns a request with the fields that the transport adds, as the server chooses its response by them.
    func completed(_ request: URLRequest) -> URLRequest {
        var request = request
        for (name, value) in fieldsAdded(to: request) where request.value(forHTTPHeaderField: name) == nil {
            request.setValue(value, forHTTPHeaderField: name)
        }
        return request
    }
}

/// A response as a transport delivers it.
public struct TransportResponse: Sendable {
    /// The status code; that of a redirect, if it is one.
    public var status: Int
    /// The lines of the head in their order; a name may occur more than once.
    public var fields: [(name: String, value: String)]
    /// Returns the next piece of the body, and nil after the last one; throws if the body ends too early.
    public var nextPiece: @Sendable () async throws -> Data?

    /// Makes a response whose body comes piece by piece.
    public init(
        status: Int, fields: [(name: String, value: String)],
        nextPiece: @escaping @Sendable () async throws -> Data?
    ) {
        self.status = status
        self.fields = fields
        self.nextPiece = nextPiece
    }

    /// Makes a response whose body is whole already.
    public init(status: Int, fields: [(name: String, value: String)], body: Data) {
        self.init(status: status, fields: fields, nextPiece: Self.pieces(of: body))
    }

    /// Returns a body that is whole already as one piece.
    static func pieces(of body: Data) -> @Sendable () async throws -> Data? {
        let rest = Guarded<Data?>(body)
        return { rest.withLock { $0.take() } }
    }

    /// Returns the lines of a field, by its name in lower case.
    func lines(_ name: String) -> [String] {
        fields.filter { $0.name.lowercased() == name }.map(\.value)
    }

    /// True if the response says that it is a dictionary for later ones.
    var offersDictionary: Bool { status == 200 && !lines("use-as-dictionary").isEmpty }
}
