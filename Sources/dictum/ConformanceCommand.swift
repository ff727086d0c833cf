internal import ArgumentParser
internal import Foundation
internal import HTTP
internal import Proxy

struct ConformanceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "conformance",
        abstract: "Judges a client by the rules of RFC 9842.",
        usage: "dictum conformance [<options>] [-- <command> ...]",
        discussion: """
            Plays a server, lets the client fetch URLs, and prints a verdict for each rule. A client that is a command is run \
            for each URL: it gets the URL as its last word (or in place of {url}), writes the decoded body to standard output, \
            ends with another status than 0 if it has none, and keeps dictionaries from one run to the next. {user} in its \
            words stands for alice or bob, who must share nothing. Without a command, open the address that is printed in a \
            browser; a script in its place gets the first URL from /next, tells the SHA-256 of each body by \
            /next?sha256=HEX, or /next?failed, which returns the URL after it, and ends at 204. Example: \
            dictum conformance -- dictum fetch --cache cache -H 'Authorization: {user}'
            """)

    @Argument(
        parsing: .postTerminator,
        help: ArgumentHelp("The client and its arguments, behind --.", valueName: "command"))
    var command: [String] = []

    @Option(help: ArgumentHelp("The address to listen at; port 0 picks a free one.", valueName: "address"))
    var listen = "127.0.0.1:0"

    @Option(help: ArgumentHelp("The host name in URLs (default: the host of --listen)", valueName: "name"))
    var name: String?

    @Option(help: ArgumentHelp("Use HTTPS and HTTP/2 with this certificate (PEM).", valueName: "file"))
    var certificate: String?

    @Option(help: ArgumentHelp("The key of --certificate (PEM).", valueName: "file"))
    var privateKey: String?

    @Option(help: ArgumentHelp("Try these rules only, by their names with commas.", valueName: "rules"))
    var only: String?

    @Option(help: ArgumentHelp("Time limit for one URL.", valueName: "seconds"))
    var maxTime = 60

    @Flag(help: "Print the verdicts as JSON, one rule per line.")
    var json = false

    @Flag(name: .short, help: "Let the standard error of the command through.")
    var verbose = false

    func validate() throws {
        try FetchDeadline.check(maxTime: maxTime)
        guard case .tcp = ConfiguredAddress(listen) else {
            throw ValidationError("--listen: expected HOST:PORT, such as 127.0.0.1:0")
        }
        guard (certificate == nil) == (privateKey == nil) else {
            throw ValidationError("--certificate and --private-key: expected both or none")
        }
        _ = try rules()
    }

    private func rules() throws -> [ClientRule] {
        guard let only else { return ClientRule.all }
        let names = only.split(separator: ",").map(String.init)
        guard !names.isEmpty else { throw ValidationError("--only: expected at least one rule") }
        let known = ClientRule.all.map(\.name)
        for name in names where !known.contains(name) {
            let near = name.nearest(in: known).map { "did you mean \"\($0)\"?" }
            throw ValidationError(
                "--only: unknown rule \(name): \(near ?? "expected some of \(known.joined(separator: ","))")")
        }
        return ClientRule.all.filter { names.contains($0.name) }
    }

    func run() throws {
        let (findings, lack) = try judge(rules())
        if json {
            for finding in findings { try StandardOutput.write(OutputFormat.json(finding)) }
        } else {
            try StandardOutput.write(Finding.text(findings))
        }
        if findings.contains(where: { $0.verdict == "fail" }) { throw ExitCode.failure }
        // A client that cannot even run breaks no rule; a pipeline must not take that for a pass.
        if let lack { throw CommandError(lack) }
    }

    /// Returns a finding for each rule, and why they are empty words, if they are.
    private func judge(_ rules: [ClientRule]) throws -> (findings: [Finding], lack: String?) {
        guard case .tcp(let host, let port)? = ConfiguredAddress(listen) else { return ([], nil) }
        let shown = name ?? (host.contains(":") ? "[\(host)]" : host)
        let server = try JudgeServer(rules, at: (host, port), host: shown, tls: tls())
        defer { server.stop() }
        let conformance = Conformance(server: server, rules: rules)
        guard command.isEmpty else {
            let client = CommandClient(words: command, secondsMax: maxTime, isVerbose: verbose)
            return try (conformance.run(client), conformance.isJudged(client) ? nil : Self.isIdle)
        }
        StandardError.write(
            "dictum: open \(server.origin)/ in a browser, or let a client ask \(server.origin)/next")
        let page = PageClient(server: server, secondsMax: maxTime)
        defer { page.end() }
        let findings = try conformance.run(page)
        let isGone =
            page.isGone ? "the client told no more results, so that not all was judged; see GET /next" : nil
        return (findings, conformance.isJudged(page) ? isGone : Self.isIdle)
    }

    private static let isIdle =
        "the client asked for none of the URLs, so that nothing was judged; run it by hand, or here with -v"

    private func tls() throws(TLSError) -> TLSServer? {
        guard let certificate, let privateKey else { return nil }
        let files = TLSServerSettings.Files(certificate: certificate, privateKey: privateKey)
        return try TLSServer(TLSServerSettings(certificates: [files]), ticketKeys: TLSTicketKeys())
    }
}
