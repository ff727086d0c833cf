public import Foundation

/// A message of the client for the app's log; none of them is a failure of the request.
public enum DictionaryEvent: Sendable {
    /// A response has come whole.
    case finished(FetchMetrics)
    /// A response could not be decoded, a 304 confirmed another body than the one that is held, or the server refused a body coded
    /// over the dictionary; the request is sent once more without one.
    case dictionaryDropped(URL, cause: String)
    /// A response offered a dictionary that is not kept.
    case notKept(URL, cause: String)
}

/// The figures of one request.
public struct FetchMetrics: Equatable, Sendable {
    /// The URL behind all redirects.
    public var url: URL
    /// The status that the server sent.
    public var status: Int
    /// The content coding of the response.
    public var coding: String
    /// The bytes of the body as the transport delivered it.
    public var wireBytes: Int
    /// The bytes of the body as the app gets it.
    public var bodyBytes: Int
    /// The bytes of the request's body as they were sent, coded or not.
    public var requestBytes: Int
    /// The SHA-256 of the dictionary that the request named, in hexadecimal.
    public var dictionary: String?
    /// True if the body is now a dictionary for later requests.
    public var isKept: Bool
    /// True if the server confirmed the body that was held (304).
    public var isRevalidated: Bool
    /// True if the request was sent a second time, without a dictionary.
    public var isRetried: Bool
    /// True if the app did not ask: a Link of an earlier response named this dictionary.
    public var isOfLink: Bool
}
