internal import Dictionaries
internal import Foundation
internal import TestSupport
internal import Testing

/// Everything in a document that a test can compare with the repository.
@Suite struct DocumentTests {
    @Test(arguments: try Documentation.paths())
    func `every link leads to a file, and to a heading of it`(document: String) throws {
        #expect(try Documentation.deadLinks(of: document) == [])
    }

    @Test(arguments: ["README.md", "CONTRIBUTING.md", "deploy/CONFIGURE.md", "deploy/BROWSERS.md"])
    func `every configuration is valid`(document: String) throws {
        guard try Documentation.text(document).contains("\n```yaml\n") else { return }
        let certificates = try TestCertificates()
        for documented in try Documentation.blocks("yaml", of: document) {
            let block = documented.replacing(
                "/etc/dictum/tls/fullchain.pem", with: certificates.file("server.pem")
            )
            .replacing("/etc/dictum/tls/privkey.pem", with: certificates.file("server.key"))
            let upstream = block.contains("upstream:") ? "" : "upstream: {urls: [\"http://127.0.0.1:9\"]}\n"
            let folder = try TemporaryFolder()
            try folder.write(Array((upstream + block).utf8), to: "dictum.yaml")
            let result = try RunningProcess.run(["check", "--config", "dictum.yaml"], in: folder.path)
            #expect(result.status == 0, "\(result.errors)\n\(block)")
        }
    }

    @Test func `the table of metrics has every metric that the program declares, and no other`() throws {
        let declared = try Documentation.sources(in: "Sources/Proxy").flatMap { source in
            source.matches(of: /"((?:dictum|process)_[a-z0-9_]+)"/).map { String($0.output.1) }
        }
        let rows = try Documentation.text("deploy/OPERATE.md").matches(of: /`((?:dictum|process)_[a-z0-9_]+)/)
        #expect(Set(declared).count > 40)
        #expect(Set(declared) == Set(rows.map { String($0.output.1) }))
    }

    @Test func `the tables of reasons have every reason of a response`() throws {
        let text = try Documentation.text("deploy/DIAGNOSE.md")
        for reason in Reason.allCases {
            let isNamed = text.contains("`\(reason.text)`") || text.contains("`not-offered=\(reason.text)`")
            #expect(isNamed, "\(reason.text)")
        }
    }

    @Test(arguments: ["HTTP", "Dictionaries", "Storage", "DictumClient", "Proxy", "dictum"])
    func `the table of folders has every folder of a module`(module: String) throws {
        let text = try Documentation.text("CONTRIBUTING.md")
        for folder in Documentation.folders(in: "Sources/\(module)") {
            #expect(text.contains("`\(folder)/`"), "\(module)/\(folder)")
        }
    }

    @Test func `the façade of the store has at most twelve members, as the table of folders says`() throws {
        let members = try Documentation.sources(in: "Sources/Storage").flatMap { source in
            source.matches(of: /(?:class|extension) DictionaryStore[ :][\s\S]*?\n\}/).flatMap { block in
                block.output.matches(of: /\n    package [^\n(:]*/).map { String($0.output) }
            }
        }
        #expect((8...12).contains(members.count), "\(members)")
    }

    @Test(arguments: try Documentation.paths())
    func `every file and folder that a document names exists`(document: String) throws {
        let folders = /`((?:Sources|Tests|deploy|config|\.ci)\/[A-Za-z0-9_.\/+-]*)`/
        for match in try Documentation.text(document).matches(of: folders) {
            let path = String(match.output.1)
            guard !path.contains("NAME") else { continue }
            #expect(Documentation.exists(path), "\(document): \(path)")
        }
    }

    private static let types = names(
        in: "Sources", /(?:struct|class|enum|protocol|actor|typealias) ([A-Z]\w+)/)
    private static let suites = names(in: "Tests", /struct (\w+Tests)[ :]/)

    /// Returns the names that sources declare; to read them all takes a second.
    private static func names(in folder: String, _ pattern: Regex<(Substring, Substring)>) -> Set<String> {
        let sources = (try? Documentation.sources(in: folder)) ?? []
        return Set(sources.flatMap { $0.matches(of: pattern).map { String($0.output.1) } })
    }

    @Test(arguments: ["Proxy", "Rules", "LifeOfARequest", "Configuration", "WhereItIsDecided"])
    func `every type that an article names exists`(article: String) throws {
        // Field names begin with a capital too; methods are all capitals.
        let others: Set = [
            "Dictionaries", "Proxy", "Storage", "Age", "Authorization", "Cookie", "Date", "Expect", "Expires",
            "Forwarded", "Host", "Link", "Pragma", "Trailer", "Vary", "Via",
        ]
        let text = try Documentation.text("Sources/Proxy/Proxy.docc/\(article).md")
        for match in text.matches(of: /`([A-Z][A-Za-z]+)`/) {
            let name = String(match.output.1)
            guard !others.contains(name), name != name.uppercased(), !name.hasSuffix("Tests") else {
                continue
            }
            #expect(Self.types.contains(name), "\(article): \(name)")
        }
    }

    @Test func `every file that the index of decisions names exists`() throws {
        let text = try Documentation.text("Sources/Proxy/Proxy.docc/WhereItIsDecided.md")
        let paths = text.matches(of: /`([A-Za-z0-9_\/+.-]+\.swift)`/).map { String($0.output.1) }
        #expect(paths.count > 40)
        for path in paths {
            let exists = ["Sources", "Tests"].contains { Documentation.exists("\($0)/\(path)") }
            #expect(exists, "\(path)")
        }
    }

    @Test func `a row of the index of decisions names types of its files, and suites that exist`() throws {
        let text = try Documentation.text("Sources/Proxy/Proxy.docc/WhereItIsDecided.md")
        let rows = text.split(separator: "\n").filter { $0.hasPrefix("| ") && $0.contains(".swift`") }
        #expect(rows.count >= 40)
        for row in rows {
            let cells = String(row).components(separatedBy: " | ")
            try #require(cells.count == 4, "\(row)")
            let files = try cells[1].matches(of: /`([A-Za-z0-9_\/+.-]+\.swift)`/).map { match in
                let path = String(match.output.1)
                let folder = Documentation.exists("Sources/\(path)") ? "Sources" : "Tests"
                return try Documentation.text("\(folder)/\(path)")
            }
            let source = files.joined(separator: "\n")
            let declared = source.matches(
                of: /(?:struct|class|enum|protocol|actor|extension) (?:[A-Za-z]+\.)?([A-Z]\w*)/
            ).map { String($0.output.1) }
            // A type, or a member of it such as `Exchange.plan`; a path has a slash.
            for match in cells[1].matches(of: /`([A-Z]\w*)(?:\.(\w+))?`/) {
                let (type, member) = (String(match.output.1), match.output.2.map { String($0) })
                let hasMember =
                    member.map { name in
                        declared.contains(name) || name == "init"
                            || ["func", "var", "let", "case"].contains { source.contains("\($0) \(name)") }
                    } ?? true
                let isThere = declared.contains(type) && hasMember
                #expect(isThere, "\(match.output.0) in \(cells[1])")
            }
            let named = cells[3].matches(of: /`(\w+Tests)`/).map { String($0.output.1) }
            #expect(!named.isEmpty, "\(cells[0])")
            for suite in named { #expect(Self.suites.contains(suite), "\(suite)") }
        }
    }

    @Test func `NOTICE names every package and library that Package.swift links`() throws {
        let (package, notice) = (try Documentation.text("Package.swift"), try Documentation.text("NOTICE"))
        let packages = package.matches(of: /package: "([A-Za-z.-]+)"/).map { String($0.output.1) }
        // The names that pkg-config has are not those that people use.
        let names = [
            "libzstd": "Zstandard", "libbrotlienc": "brotli", "openssl": "OpenSSL", "libnghttp2": "nghttp2",
        ]
        let libraries = package.matches(of: /pkgConfig: "([a-z0-9]+)"/).map { String($0.output.1) }
        #expect(packages.count >= 8 && libraries.count == 6)
        for name in packages + libraries.map({ names[$0] ?? $0 }) {
            #expect(notice.contains(name), "\(name)")
        }
    }

    @Test func `every link in the copies for packages leads to a file of them`() throws {
        let folder = try TemporaryFolder()
        let copies = "\(folder.path)/documents"
        let copied = try RunningProcess.run(
            ["\(Documentation.root.path)/deploy/release/documents", copies], of: "/usr/bin/python3")
        try #require(copied.status == 0, "\(copied.errors)")
        let names = try FileManager.default.contentsOfDirectory(atPath: copies)
            .filter { $0.hasSuffix(".md") }
        #expect(names.count > 15)
        for name in names { #expect(try Documentation.deadLinks(of: name, in: copies) == [], "\(name)") }
    }

    @Test func `systemd starts the service again and again, as OPERATE says`() throws {
        let unit = try Documentation.text("deploy/dictum.service")
        let parts = unit.components(separatedBy: "\n[Service]\n")
        // In another section systemd ignores it.
        try #require(parts.count == 2)
        #expect(
            parts[0].contains("\nStartLimitIntervalSec=0\n") && parts[1].contains("\nRestart=on-failure\n"))
    }

    @Test func `every suite that the security model names exists`() throws {
        let text = try Documentation.text("deploy/SECURITY-MODEL.md")
        for match in text.matches(of: /`([A-Z][A-Za-z]+Tests)`/) {
            let suite = String(match.output.1)
            #expect(Self.suites.contains(suite) || Documentation.exists("Tests/\(suite)"), "\(suite)")
        }
    }
}
