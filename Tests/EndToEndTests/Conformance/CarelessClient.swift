internal import Dictionaries
internal import Foundation
internal import FoundationNetworking
internal import Primitives
internal import TestSupport

@testable internal import dictum

/// A client that keeps all that is offered, and names it to whoever asks below the same folder; no ids, no users.
struct CarelessClient: ClientUnderTest {
    let hasUsers = true
    let attempts = 1
    private let held = Guarded<[String: Body]>([:])

    func get(_ url: String, for user: String) throws(CommandError) -> Delivered {
        do {
            return .body(try fetch(url).digest)
        } catch {
            return .nothing("\(error)")
        }
    }

    private func fetch(_ text: String) throws -> Body {
        guard let url = URL(string: text), let folder = url.path.split(separator: "/").first else {
            throw URLError(.badURL)
        }
        var request = URLRequest(url: url)
        request.setValue("dcz, dcb", forHTTPHeaderField: "Accept-Encoding")
        let dictionary = held.withLock { $0[String(folder)] }
        if let dictionary {
            request.setValue(available(dictionary.bytes), forHTTPHeaderField: "Available-Dictionary")
        }
        let response = try WireTransport().exchange(request)
        let body = Body(try decoded(response.body, response["content-encoding"], dictionary))
        if response["use-as-dictionary"] != nil { held.withLock { $0[String(folder)] = body } }
        return body
    }

    private func decoded(_ body: [UInt8], _ coding: String?, _ dictionary: Body?) throws -> [UInt8] {
        guard let coding, let coding = ContentCoding(rawValue: coding) else { return body }
        let limits = DecoderLimits(maxBytes: 512 << 20, maxRatio: 1 << 20)
        return try Codec.decode(body.span, coding, dictionary: dictionary, limits: limits)
    }
}
