import DictumClient
import Foundation
import FoundationNetworking
import TestSupport
import Testing

/// The bodies of `Tests/Vectors`, which foreign encoders made, as an app gets them.
@Suite struct ClientVectorTests {
    private let folder = ClientFolder()

    @Test(arguments: TestVector.all)
    func `the app gets a valid body, and in place of an invalid one the plain one`(vector: TestVector)
        async throws
    {
        let client = try folder.client()
        let dictionary = Data(try TestVector.bytes(of: vector.dictionary))
        let coded = TransportResponse(
            status: 200, fields: [("Content-Encoding", vector.coding)],
            body: Data(try TestVector.bytes(of: vector.file)))
        let server = ScriptedTransport([try response(dictionary), coded, try response(feed(0))])
        #expect(try await client.data(from: feedURL, using: server).0 == dictionary)
        do {
            let (body, _) = try await client.data(from: feedURL, using: server)
            let isDecoded = server.requests.count == 2
            #expect(isDecoded ? vector.verdict != "invalid" : vector.verdict != "valid")
            #expect(try body == (isDecoded ? Data(TestVector.bytes(of: #require(vector.plain))) : feed(0)))
        } catch DictionaryClientError.tooLarge {
            #expect(vector.error == "length" && server.requests.count == 2)
        }
    }
}
