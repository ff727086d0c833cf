import Foundation
import Testing

@testable import Proxy

/// The folder `config` of the repository.
private let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appending(path: "config")

@Suite struct ReferenceTests {
    @Test func `the reference is what the table of settings makes`() throws {
        let file = try String(contentsOf: folder.appending(path: "reference.yaml"), encoding: .utf8)
        #expect(file == ConfigurationReference.text, "run `dictum reference > config/reference.yaml`")
    }

    @Test func `the reference is a configuration with every default`() throws {
        let configuration = try Configuration.parse(Array(ConfigurationReference.text.utf8))
        var expected = Configuration()
        expected.upstream.urls = [try UpstreamURL("http://127.0.0.1:9000")]
        expected.routes = [RouteConfiguration.fresh]
        expected.routes[0].match = RouteConfiguration.implied.match
        #expect(String(reflecting: configuration) == String(reflecting: expected))
    }

    @Test func `every setting that can be given has its lines in the reference`() {
        let lines = ConfigurationReference.text.split(separator: "\n")
        for key in Settings.all.map(\.key) + Settings.dictionary.map(\.key) + Settings.limits.map(\.key) {
            #expect(lines.contains { $0.contains("\(key):") }, "\(key)")
        }
    }

    @Test func `the example is valid, and shows which chains its bundles join`() throws {
        let path = folder.appending(path: "example.yaml").path
        let check = ConfigurationCheck(try Configuration.load(file: path, environment: [:]))
        #expect(check.lines.contains("  /app/one.1a2b.js joins /app/one.*.js"))
        #expect(check.lines.first == "the configuration is valid")
    }

    @Test func `a file that cannot be read is a mistake of the configuration`() {
        let error = #expect(throws: ConfigurationError.self) {
            try Configuration.load(file: "/nowhere/at/all", environment: [:])
        }
        #expect(
            error?.lines(file: "x") == [
                "x:1:1: the file cannot be opened (No such file or directory): expected a readable file"
            ])
        #expect(throws: ConfigurationError.self) {
            try Configuration.load(file: folder.path, environment: [:])
        }
    }
}
