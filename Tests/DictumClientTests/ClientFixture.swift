import Dictionaries
import DictumClient
import Foundation
import FoundationNetworking
import Primitives
import TestSupport

/// A transport that answers from a script, and remembers what it was asked.
final class ScriptedTransport: Transport {
    typealias Script = @Sendable (URLRequest) async throws -> TransportResponse

    let decodedCodings: [String]
    private let script: Script
    private let received = Guarded<[URLRequest]>([])
    /// What the transport adds to requests by itself.
    let added = Guarded<[String: String]>([:])

    init(decodedCodings: [String] = [], _ script: @escaping Script) {
        self.decodedCodings = decodedCodings
        self.script = script
    }

    /// Gives one response after the other, the last for ever.
    convenience init(_ responses: [TransportResponse]) {
        let next = Guarded(0)
        self.init { _ in
            let turn = next.withLock { next in
                defer { next += 1 }
                return min(next, responses.count - 1)
            }
            return responses[turn]
        }
    }

    var requests: [URLRequest] { received.withLock { $0 } }

    /// The dictionaries that the requests named, in order.
    var named: [String?] { requests.map { $0.value(forHTTPHeaderField: "Available-Dictionary") } }

    func fieldsAdded(to request: URLRequest) -> [String: String] { added.withLock { $0 } }

    func send(_ request: URLRequest) async throws -> TransportResponse {
        received.withLock { $0.append(request) }
        return try await script(request)
    }
}

/// A folder with a client's store; removed with the last reference.
final class ClientFolder {
    let url: URL
    let events = Guarded<[DictionaryEvent]>([])

    init() {
        url = FileManager.default.temporaryDirectory.appendingPathComponent(
            "dictum-client-\(UUID().uuidString)")
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    /// Opens the store as a new process of the app would.
    func client(bodyBytesMax: Int = 16 << 20, limit: ClientStore.Limit = .mebibytes(8)) throws
        -> DictionaryClient
    {
        var options = DictionaryClient.Options()
        options.bodyBytesMax = bodyBytesMax
        options.onEvent = { [events] event in events.withLock { $0.append(event) } }
        return DictionaryClient(store: try .persistent(at: url, limit: limit), options: options)
    }

    var metrics: [FetchMetrics] {
        events.withLock { $0 }.compactMap { if case .finished(let metrics) = $0 { metrics } else { nil } }
    }

    /// How many dictionaries were dropped because a request with them failed.
    var droppedCount: Int {
        events.withLock { $0 }.count { if case .dictionaryDropped = $0 { true } else { false } }
    }

    /// Why offers were not kept.
    var unkeptCauses: [String] {
        events.withLock { $0 }.compactMap { if case .notKept(_, let cause) = $0 { cause } else { nil } }
    }

    /// Sets the last changes of the folders of dictionaries back, as if nothing had happened for a while.
    func settle(to date: Date = Date(timeIntervalSinceNow: -100)) throws {
        for inside in files(endingIn: ".dictum") {
            try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: inside.path)
        }
    }

    /// The files of all users whose names end so.
    func files(endingIn suffix: String) -> [URL] {
        let all = FileManager.default.enumerator(at: url, includingPropertiesForKeys: nil)?.compactMap {
            $0 as? URL
        }
        return (all ?? []).filter { $0.lastPathComponent.hasSuffix(suffix) }
    }
}

func feed(_ version: Int) -> Data { Data(Feed.bytes(version: version, items: 40)) }

/// The value of Available-Dictionary that names a body.
func name(of body: Data) -> String { ":\(Digest(of: [UInt8](body).span).base64):" }

/// A response of 200 with a body, in a coding if one is given.
func response(
    _ body: Data, _ fields: [(String, String)] = [("Cache-Control", "max-age=600")], match: String? = "/feed",
    coding: ContentCoding? = nil, over dictionary: Data? = nil
) throws -> TransportResponse {
    var lines = fields.map { (name: $0.0, value: $0.1) }
    if let match { lines.append((name: "Use-As-Dictionary", value: "match=\"\(match)\", id=\"cap-1\"")) }
    guard let coding else { return TransportResponse(status: 200, fields: lines, body: body) }
    lines.append((name: "Content-Encoding", value: coding.token))
    let options = EncoderOptions(dictionary: dictionary.map { .reference(Body([UInt8]($0))) })
    let coded = try Codec.encode([UInt8](body).span, coding, options: options)
    return TransportResponse(status: 200, fields: lines, body: Data(coded))
}

let feedURL = URL(string: "https://api.test/feed") ?? URL(fileURLWithPath: "/")
