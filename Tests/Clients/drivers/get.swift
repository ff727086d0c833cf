import DictumClient
import Foundation

// get FOLDER URL: writes the body of a URL to standard output, with the dictionaries of a folder.
let words = CommandLine.arguments
guard words.count == 3, let url = URL(string: words[2]) else { exit(64) }
let store = try ClientStore.persistent(at: URL(fileURLWithPath: words[1]), limit: .mebibytes(64))
let client = DictionaryClient(store: store)
let transport = AsyncHTTPTransport()
do {
    let (body, _) = try await client.data(from: url, using: transport)
    await client.fetchLinked()
    FileHandle.standardOutput.write(body)
    try await transport.shutdown()
} catch {
    FileHandle.standardError.write(Data("\(error)\n".utf8))
    exit(1)
}
