internal import Dictionaries
internal import DictumClient
internal import Dispatch
internal import Foundation
internal import FoundationNetworking
internal import Primitives
internal import TestSupport

@testable internal import dictum

/// The client of apps, opened anew for each URL as by a new process of the app.
struct LibraryClient: ClientUnderTest {
    let folder: TemporaryFolder
    var transport: any Transport = WireTransport()
    let hasUsers = true
    let attempts = 1

    func get(_ url: String, for user: String) throws(CommandError) -> Delivered {
        let result = Guarded(Delivered.nothing("no result"))
        let ended = DispatchSemaphore(value: 0)
        Task.detached { [folder, transport] in
            do {
                let place = URL(fileURLWithPath: "\(folder.path)/client")
                let client = DictionaryClient(store: try .persistent(at: place, limit: .mebibytes(64)))
                    .forUser(user)
                guard let url = URL(string: url) else { throw URLError(.badURL) }
                let (body, _) = try await client.data(from: url, using: transport)
                await client.fetchLinked()
                result.withLock { $0 = .body(Body([UInt8](body)).digest) }
            } catch {
                result.withLock { $0 = .nothing("\(error)") }
            }
            ended.signal()
        }
        ended.wait()
        return result.withLock { $0 }
    }
}

/// A transport whose first response is held up for seconds, as by a machine that does something else.
struct LateTransport: Transport {
    private static let seconds = 3
    let decodedCodings: [String] = []
    private let isFirst = Guarded(true)

    func send(_ request: URLRequest) async throws -> TransportResponse {
        let response = try await WireTransport().send(request)
        let isLate = isFirst.withLock { isFirst in
            defer { isFirst = false }
            return isFirst
        }
        if isLate { try await Task.sleep(for: .seconds(Self.seconds)) }
        return response
    }
}
