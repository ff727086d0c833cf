import DictumClient
import Foundation

// get FOLDER URL [SECONDS]: writes the body of a URL to standard output, with the dictionaries of a folder.
let words = CommandLine.arguments
guard words.count == 3 || words.count == 4, let url = URL(string: words[2]) else { exit(64) }

/// The transport ends with the function, without a call to shut it down.
func body(of url: URL) async throws -> Data {
    let store = try ClientStore.persistent(at: URL(fileURLWithPath: words[1]), limit: .mebibytes(64))
    let client = DictionaryClient(store: store)
    let transport = AsyncHTTPTransport(timeoutSeconds: words.dropFirst(3).first.flatMap { Int($0) } ?? 60)
    let (body, _) = try await client.data(from: url, using: transport)
    await client.fetchLinked()
    return body
}

do {
    FileHandle.standardOutput.write(try await body(of: url))
} catch {
    FileHandle.standardError.write(Data("\(error)\n".utf8))
    exit(1)
}
