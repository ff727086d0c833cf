internal import TestSupport
internal import Testing

@testable import Proxy

/// The test vectors as bodies of requests.
@Suite(.timeLimit(.minutes(40))) struct UploadVectorTests {
    private static let settings =
        "routes: [{match: /*, requests: dictionary, limits: {request_body: 16MiB}}]"

    @Test(arguments: TestVector.all)
    func `a good body reaches the upstream decoded, a bad one is refused`(vector: TestVector) throws {
        let proxy = try TestProxy(
            Origin { request, connection in
                guard request.method == "GET", let dictionary = try? TestVector.bytes(of: vector.dictionary)
                else {
                    return _ = connection.send(json(Array("taken".utf8)))
                }
                connection.send(json(dictionary, "Cache-Control: public, max-age=60"))
            }, Self.settings)
        _ = try proxy.fetch("/doc")
        let answer = try proxy.fetch(
            "/doc", "Content-Encoding: \(vector.coding)", method: "PUT",
            body: TestVector.bytes(of: vector.file))
        let uploaded = proxy.origin.requests.dropFirst()
        // Several frames over one dictionary may be refused, but not decoded to anything else.
        if vector.coding == "dcz", let plain = vector.plain, vector.verdict == "valid" || answer.status == 200
        {
            #expect(answer.status == 200)
            #expect(try uploaded.count == 1 && uploaded.last?.carries(TestVector.bytes(of: plain)) == true)
        } else {
            #expect(answer.status == refusal(of: vector) && uploaded.isEmpty)
        }
        let shared = proxy.server.context.shared
        try waitUntil("every place and all memory is given back") {
            shared.places.counts.taken == 0 && shared.coding.memory.takenBytes == 0
        }
    }

    private func refusal(of vector: TestVector) -> Int {
        // Dictum takes dcz only.
        if vector.coding != "dcz" || vector.file == "other-dictionary.dcz" { return 415 }
        return vector.error == "length" ? 413 : 400
    }
}
