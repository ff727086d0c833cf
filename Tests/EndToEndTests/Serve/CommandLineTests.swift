internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import dictum

/// Tests the command line: mistakes, help, completions and the manual page.
@Suite(.timeLimit(.minutes(40))) struct CommandLineTests {
    @Test(arguments: [
        (["serv", "--config", "x"], #"unknown command "serv": did you mean "serve"?"#),
        (["docter", "http://a/"], #"unknown command "docter": did you mean "doctor"?"#),
        (["store", "lst"], #"unknown command "lst": did you mean "list"?"#),
        (["help", "observe"], #"unknown command "observe": expected one of serve, check, "#),
        (["help", "store", "lst"], #"unknown command "lst": did you mean "list"?"#),
        (["check", "c.yaml"], #"unexpected argument "c.yaml": did you mean --config c.yaml?"#),
        (["serve", "c.yaml"], #"unexpected argument "c.yaml": did you mean --config c.yaml?"#),
        (["serve", "http://a"], #"unexpected argument "http://a": did you mean --upstream http://a?"#),
        (["report", "http://a"], #"unexpected argument "http://a": did you mean --admin http://a?"#),
        (["purge", "http://a"], #"unexpected argument "http://a": did you mean --admin http://a?"#),
        (["purge", "/feed"], #"unexpected argument "/feed": name what to forget by --host, --path, "#),
        (["frobnicate"], #"unknown command "frobnicate": expected one of serve, check, "#),
    ])
    func `a command that does not exist is wrong usage, and the right one is named`(
        words: [String], expected: String
    )
        throws
    {
        let result = try RunningProcess.run(words)
        #expect(result.status == 64 && result.errorLines.count == 1)
        #expect(result.errors.hasPrefix("dictum: " + expected), "\(result.errors)")
    }

    @Test(arguments: [
        ["serve", "--frobnicate"], ["serve"], ["store", "show", "abcd", "--shared", "--config", "x"],
        ["fetch", "http://a/", "--max-time", "x"], ["report", "--admin", "http://127.0.0.1:1"],
        ["store", "list", "--store", "/nowhere/at.all"],
    ])
    func `an error begins with the name of the program, whoever finds it`(words: [String]) throws {
        let result = try RunningProcess.run(words)
        #expect(result.status != 0 && result.errors.hasPrefix("dictum: "), "\(result.errors)")
        #expect(!result.errors.contains("Error: "))
    }

    @Test func `store ls is store list`() throws {
        #expect(Dictum.mistake(in: ["store", "ls", "--store", "x"]) == nil)
        #expect(Dictum.mistake(in: ["help", "store", "ls"]) == nil)
        let (short, long) = (
            try RunningProcess.run(["help", "store", "ls"]),
            try RunningProcess.run(["help", "store", "list"])
        )
        #expect(short.status == 0 && short.text == long.text)
    }

    @Test func `version is what --version prints`() throws {
        let version = try RunningProcess.run(["version"])
        #expect(version.status == 0)
        #expect(try version.text == RunningProcess.run(["--version"]).text)
    }

    @Test func `no help shows a default twice, and the manual page shows as many`() throws {
        let manual = try RunningProcess.run(["manual"]).text
        let groups: Set = ["store"]
        for name in Dictum.commandNames where !groups.contains(name) {
            let help = try RunningProcess.run(["help", name]).text
            #expect(help.firstMatch(of: /\(default[^)]*\)[\s.]*\(default/) == nil, "\(help)")
        }
        #expect(manual.contains("The codings to accept. (default: dcz,dcb,zstd,br,gzip)"))
        #expect(manual.contains("Overall time limit. (default: 60)"))
    }

    @Test func `help and manual page have the same topics`() throws {
        let (help, manual) = (
            try RunningProcess.run(["--help"]).text, try RunningProcess.run(["manual"]).text
        )
        for topic in ["EXAMPLES", "FILES", "ENVIRONMENT", "SIGNALS", "EXIT STATUS"] {
            #expect(help.contains("\n\(topic)\n") && manual.contains("\n.SH \(topic)\n"), "\(topic)")
        }
    }

    @Test func `every command is in the help`() throws {
        let help = try RunningProcess.run(["--help"]).text
        for name in Dictum.commandNames {
            #expect(help.contains("\n  \(name) "), "\(name)")
            #expect(try RunningProcess.run(["help", name]).status == 0)
        }
    }

    @Test func `the usage of conformance has its command behind two hyphens`() throws {
        let help = try RunningProcess.run(["help", "conformance"]).text
        #expect(help.contains("USAGE: dictum conformance [<options>] [-- <command> ...]\n"), "\(help)")
    }

    @Test(arguments: ["estimate", "train"])
    func `a file of authorities that is not there is wrong usage`(command: String) throws {
        let result = try RunningProcess.run(
            [command, "https://127.0.0.1:1/", "--ca", "/none.pem"], in: "/tmp")
        #expect(result.status == 64 && result.errors.contains("/none.pem"), "\(result.errors)")
    }

    @Test(arguments: ["bash", "zsh", "fish"])
    func `there are completions for every command`(shell: String) throws {
        let script = try RunningProcess.run(["--generate-completion-script", shell])
        #expect(script.status == 0)
        for name in Dictum.commandNames { #expect(script.text.contains(name), "\(name)") }
    }

    @Test func `the manual page has every command and option, and man finds nothing to complain about`()
        throws
    {
        let page = try RunningProcess.run(["manual"])
        #expect(page.status == 0)
        for name in Dictum.commandNames { #expect(page.text.contains(".SS \"dictum \(name)\"\n"), "\(name)") }
        for option in ["config", "browser", "ca", "dry\\-run"] {
            #expect(page.text.contains("\\-\\-\(option)"))
        }
        guard FileManager.default.isExecutableFile(atPath: "/usr/bin/groff") else {
            return print("not formatted: no groff here")
        }
        let folder = try TemporaryFolder()
        try folder.write(page.output, to: "dictum.1")
        let formatted = try RunningProcess.run(
            ["-man", "-ww", "-Tutf8", "dictum.1"], of: "/usr/bin/groff", in: folder.path)
        #expect(formatted.status == 0 && formatted.errors.isEmpty, "\(formatted.errors)")
        #expect(formatted.text.contains("Prints the manual page"))
    }

    @Test(arguments: [
        (100, 100, 0, "0.00 %"), (162_969, 77, 99.95, "99.95 %"), (10_000_000, 1, 99.99, "99.99 %"),
        (10, 0, 100, "100.00 %"), (0, 0, 0, "0.00 %"), (100, 150, -50, "-50.00 %"),
    ])
    func `what is saved is never all of it as long as a byte travels`(
        body: Int, wire: Int, percent: Double, text: String
    ) {
        #expect(FetchReport.savedPercent(body: body, wire: wire) == percent)
        #expect(FetchReport.percentText(body: body, wire: wire) == text)
    }

    @Test func `a port alone is where serve listens, and its own upstream is refused at the start`() throws {
        let folder = try TemporaryFolder()
        let holder = try Origin.closing { _ in nil }
        let port = holder.port
        holder.stop()
        let result = try RunningProcess.run(
            [
                "serve", "--upstream", "http://127.0.0.1:\(port)", "--listen", ":\(port)", "--store",
                ":memory:",
            ],
            in: folder.path)
        #expect(result.status == 1)
        #expect(
            result.errors.contains(
                "--upstream http://127.0.0.1:\(port) leads to 0.0.0.0:\(port), where this proxy itself listens"
            ), "\(result.errors)")
    }

    @Test func `a file at the path of a listener is said to be no socket, and stays`() throws {
        let folder = try TemporaryFolder()
        try folder.write(Array("mine".utf8), to: "a.sock")
        let text = """
            listeners: [{address: "unix:\(folder.path)/a.sock"}]
            upstream: {urls: ["http://127.0.0.1:9"]}
            store: {path: ":memory:"}
            admin: off
            """
        try folder.write(Array(text.utf8), to: "dictum.yaml")
        let result = try RunningProcess.run(["serve", "--config", "dictum.yaml"], in: folder.path)
        #expect(result.status == 1)
        #expect(
            result.errors.hasSuffix(
                "a.sock: the file there is no socket; remove it, or choose another path\n"),
            "\(result.errors)")
        #expect(folder.read("a.sock") == Array("mine".utf8))
    }

    @Test func `check warns of a name without address and of a folder that is not there`() throws {
        let folder = try TemporaryFolder()
        let text =
            "upstream:\n  urls: [\"http://nowhere.invalid\"]\nstore:\n  path: \(folder.path)/none/d.sqlite\n"
        try folder.write(Array(text.utf8), to: "dictum.yaml")
        let result = try RunningProcess.run(["check", "--config", "dictum.yaml"], in: folder.path)
        #expect(result.status == 0)
        #expect(result.errorLines.count == 2)
        #expect(
            result.errors.contains(
                "dictum.yaml:2:10: warning: upstream.urls[0]: the host name of http://nowhere.invalid:80"),
            "\(result.errors)")
        #expect(
            result.errors.contains(
                "dictum.yaml:4:9: warning: store.path: \(folder.path)/none does not exist"))
    }

    /// Starts a program that the permissions of files hold for, as they do not for root by its capabilities.
    private static let withoutRoot =
        geteuid() == 0
        ? ["/usr/bin/setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all"]
        : ["/usr/bin/env"]

    @Test func `a key in a folder that is closed to this user is refused by check and by the start`() throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(
            atPath: folder.file("closed"), withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0])
        let text = """
            listeners: [{address: "127.0.0.1:0"}]
            admin: off
            upstream: {urls: ["http://127.0.0.1:9"]}
            store: {path: "\(folder.file("closed"))/d.sqlite"}
            """
        try folder.write(Array(text.utf8), to: "dictum.yaml")
        for (command, status) in [("check", Int32(78)), ("serve", 1)] {
            let result = try RunningProcess.run(
                Self.withoutRoot.dropFirst() + [
                    RunningProcess.dictum, command, "--config", folder.file("dictum.yaml"),
                ],
                of: Self.withoutRoot[0])
            #expect(result.status == status)
            #expect(
                result.errors.contains("closed/d.sqlite.key cannot be opened (Permission denied)"),
                "\(result.errors)")
        }
    }

    @Test func `an access log that this user may not write is warned of, though its folder is open`() throws {
        let folder = try TemporaryFolder()
        try folder.write([], to: "access.log")
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o444], ofItemAtPath: folder.file("access.log"))
        let text = """
            upstream: {urls: ["http://127.0.0.1:9"]}
            store: {path: ":memory:"}
            log: {access: {file: "\(folder.file("access.log"))"}}
            """
        try folder.write(Array(text.utf8), to: "dictum.yaml")
        let result = try RunningProcess.run(
            Self.withoutRoot.dropFirst() + [
                RunningProcess.dictum, "check", "--config", folder.file("dictum.yaml"),
            ],
            of: Self.withoutRoot[0])
        #expect(result.errors.contains("log.access.file: this user cannot write to"), "\(result.errors)")
    }

    @Test func `a port that needs a capability is refused with its name`() throws {
        let first = try String(
            contentsOfFile: "/proc/sys/net/ipv4/ip_unprivileged_port_start", encoding: .utf8)
        guard first.hasPrefix("1024") else { return print("skipped: every process may use every port here") }
        // Root has all capabilities of the bounding set.
        let launcher =
            geteuid() == 0 ? ["/usr/bin/setpriv", "--bounding-set=-net_bind_service"] : ["/usr/bin/env"]
        let serve = [
            RunningProcess.dictum, "serve", "--upstream", "http://127.0.0.1:9", "--store", ":memory:",
        ]
        let result = try RunningProcess.run(
            launcher.dropFirst() + serve + ["--listen", "127.0.0.1:1"], of: launcher[0])
        #expect(result.status == 1)
        #expect(
            result.errors.hasPrefix(
                "dictum: cannot listen on 127.0.0.1:1: Permission denied (ports below 1024 need CAP_NET_"),
            "\(result.errors)")
    }
}
