import DictumClient
import Foundation
import FoundationNetworking
import Testing

/// Dictionaries of URLs of their own, which tests of the store keep and look for.
extension DictionaryClient {
    /// Keeps a body for each name.
    func keep(_ bodies: [(name: String, body: Data)]) async throws {
        for (name, body) in bodies {
            let server = ScriptedTransport([try response(body, match: "/\(name)")])
            _ = try await data(from: try Self.url(name), using: server)
        }
    }

    /// Returns the names for whose URLs a dictionary is named.
    func held(_ names: [String]) async throws -> [String] {
        var held: [String] = []
        for name in names where try await named(name) != nil { held.append(name) }
        return held
    }

    /// Returns the dictionary that is named for the URL of a name.
    func named(_ name: String) async throws -> String? {
        let server = ScriptedTransport([try response(feed(0), match: nil)])
        _ = try await data(from: try Self.url(name), using: server)
        return server.named.first ?? nil
    }

    private static func url(_ name: String) throws -> URL {
        try #require(URL(string: "https://api.test/\(name)"))
    }
}
