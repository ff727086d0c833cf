internal import Dictionaries
internal import DictumClient
internal import Dispatch
internal import Foundation
internal import Primitives
internal import TestSupport

@testable internal import dictum

/// The client of apps, opened anew for each URL as by a new process of the app.
struct LibraryClient: ClientUnderTest {
    let folder: TemporaryFolder
    let hasUsers = true
    let attempts = 1

    func get(_ url: String, for user: String) throws(CommandError) -> Delivered {
        let result = Guarded(Delivered.nothing("no result"))
        let ended = DispatchSemaphore(value: 0)
        Task.detached { [folder] in
            do {
                let place = URL(fileURLWithPath: "\(folder.path)/client")
                let client = DictionaryClient(store: try .persistent(at: place, limit: .mebibytes(64)))
                    .forUser(user)
                guard let url = URL(string: url) else { throw URLError(.badURL) }
                let (body, _) = try await client.data(from: url, using: WireTransport())
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
