// swift-format-ignore-file
// The part of Foundation that the client uses, with its availability.

public struct Data: Hashable, Sendable, Codable, RandomAccessCollection {
    public init() {}
    public init(_ bytes: some Sequence<UInt8>) {}
    public init(contentsOf url: URL) throws {}
    public var startIndex: Int { 0 }
    public var endIndex: Int { 0 }
    public subscript(position: Int) -> UInt8 { 0 }
    public subscript(bounds: Range<Int>) -> Data { self }
    public mutating func append(_ other: Data) {}
}

public struct Date: Hashable, Sendable {
    public init() {}
    public init(timeIntervalSince1970: Double) {}
    public var timeIntervalSince1970: Double { 0 }
    public func timeIntervalSince(_ other: Date) -> Double { 0 }
}

public struct UUID: Hashable, Sendable {
    public init() {}
    public var uuidString: String { "" }
}

public struct URLResourceValues: Sendable {
    public init() {}
    public var isExcludedFromBackup: Bool?
}

public struct URL: Hashable, Sendable {
    public init?(string: String) {}
    public init?(string: String, relativeTo base: URL?) {}
    public init(fileURLWithPath path: String) {}
    public var path: String { "" }
    public var absoluteURL: URL { self }
    public var absoluteString: String { "" }
    public func appendingPathComponent(_ name: String) -> URL { self }
    public func appendingPathComponent(_ name: String, isDirectory: Bool) -> URL { self }
    public mutating func setResourceValues(_ values: URLResourceValues) throws {}
}

public struct URLComponents {
    public init?(url: URL, resolvingAgainstBaseURL: Bool) {}
    public var scheme: String?
    public var host: String?
    public var port: Int?
    public var percentEncodedPath = ""
    public var percentEncodedQuery: String?
}

public struct CocoaError: Error {
    public struct Code: Sendable { public static let fileWriteUnknown = Code() }
    public static let fileWriteUnknown = Code.fileWriteUnknown
    public init(_ code: Code) {}
}

public struct URLError: Error {
    public struct Code: Sendable { public static let networkConnectionLost = Code() }
    public static let networkConnectionLost = Code.networkConnectionLost
    public init(_ code: Code) {}
}

public struct FileAttributeKey: Hashable, Sendable {
    public static let posixPermissions = FileAttributeKey()
    public static let modificationDate = FileAttributeKey()
    public static let protectionKey = FileAttributeKey()
}
public struct FileProtectionType: Sendable {
    public static let completeUntilFirstUserAuthentication = FileProtectionType()
}

open class NSObject { public init() {} }

public final class FileManager: NSObject {
    public static var `default`: FileManager { FileManager() }
    public func contentsOfDirectory(atPath path: String) throws -> [String] { [] }
    public func createDirectory(
        atPath path: String, withIntermediateDirectories: Bool, attributes: [FileAttributeKey: Any]? = nil
    ) throws {}
    public func createFile(atPath path: String, contents: Data?, attributes: [FileAttributeKey: Any]? = nil) -> Bool {
        true
    }
    public func removeItem(atPath path: String) throws {}
    public func setAttributes(_ attributes: [FileAttributeKey: Any], ofItemAtPath path: String) throws {}
}

public final class FileHandle: NSObject {
    public init?(forReadingAtPath path: String) {}
    public init(fileDescriptor: Int32, closeOnDealloc: Bool) {}
    public init(forUpdating url: URL) throws {}
    @available(macOS 10.15.4, iOS 13.4, *)
    public func read(upToCount count: Int) throws -> Data? { nil }
    @available(macOS 10.15.4, iOS 13.4, *)
    public func write(contentsOf data: Data) throws {}
    @available(macOS 10.15, iOS 13.0, *)
    public func synchronize() throws {}
    @available(macOS 10.15, iOS 13.0, *)
    public func close() throws {}
}

public final class JSONEncoder {
    public enum KeyEncodingStrategy: Sendable { case convertToSnakeCase }
    public init() {}
    public var keyEncodingStrategy = KeyEncodingStrategy.convertToSnakeCase
    public func encode(_ value: some Encodable) throws -> Data { Data() }
}
public final class JSONDecoder {
    public enum KeyDecodingStrategy: Sendable { case convertFromSnakeCase }
    public init() {}
    public var keyDecodingStrategy = KeyDecodingStrategy.convertFromSnakeCase
    public func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        throw CocoaError(.fileWriteUnknown)
    }
}

public final class InputStream: NSObject, Hashable, @unchecked Sendable {
    public static func == (one: InputStream, other: InputStream) -> Bool { true }
    public func hash(into hasher: inout Hasher) {}
}

public struct URLRequest: Hashable, Sendable {
    public enum CachePolicy: Sendable { case reloadIgnoringLocalCacheData }
    public enum NetworkServiceType: Sendable { case background }
    public init(url: URL) {}
    public var url: URL?
    public var httpMethod: String?
    public var httpBody: Data?
    public var httpBodyStream: InputStream?
    public var httpShouldHandleCookies = true
    public var cachePolicy: CachePolicy {
        get { .reloadIgnoringLocalCacheData }
        set {}
    }
    public var networkServiceType: NetworkServiceType {
        get { .background }
        set {}
    }
    @available(macOS 10.15, iOS 13.0, *)
    public var allowsExpensiveNetworkAccess: Bool {
        get { true }
        set {}
    }
    @available(macOS 10.15, iOS 13.0, *)
    public var allowsConstrainedNetworkAccess: Bool {
        get { true }
        set {}
    }
    public var allHTTPHeaderFields: [String: String]?
    public func value(forHTTPHeaderField name: String) -> String? { nil }
    public mutating func setValue(_ value: String?, forHTTPHeaderField name: String) {}
}

open class URLResponse: NSObject, @unchecked Sendable {}
public final class HTTPURLResponse: URLResponse, @unchecked Sendable {
    public init?(url: URL, statusCode: Int, httpVersion: String?, headerFields: [String: String]?) {}
    public var statusCode: Int { 0 }
    public var allHeaderFields: [AnyHashable: Any] { [:] }
}

public final class CachedURLResponse: NSObject, @unchecked Sendable {}

public final class HTTPCookie: NSObject, @unchecked Sendable {
    public var name: String { "" }
    public var value: String { "" }
}
public final class HTTPCookieStorage: NSObject, @unchecked Sendable {
    public func cookies(for url: URL) -> [HTTPCookie]? { nil }
}
public final class URLSessionConfiguration: NSObject, @unchecked Sendable {
    public var identifier: String? { nil }
    public var httpAdditionalHeaders: [AnyHashable: Any]?
    public var httpShouldSetCookies = true
    public var httpCookieStorage: HTTPCookieStorage?
}
public class URLSessionTask: NSObject, @unchecked Sendable {
    @available(macOS 12, iOS 15, *)
    public var delegate: (any URLSessionTaskDelegate)? {
        get { nil }
        set {}
    }
    public func resume() {}
    public func suspend() {}
    public func cancel() {}
}
public final class URLSessionDataTask: URLSessionTask, @unchecked Sendable {}
public protocol URLSessionTaskDelegate: NSObject, Sendable {
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void)
    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?)
}
public protocol URLSessionDataDelegate: URLSessionTaskDelegate {
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void)
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data)
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void)
}
public final class URLSession: NSObject, @unchecked Sendable {
    public var configuration: URLSessionConfiguration { URLSessionConfiguration() }
    public enum ResponseDisposition: Sendable { case allow, cancel }
    public func dataTask(with request: URLRequest) -> URLSessionDataTask { URLSessionDataTask() }
}
