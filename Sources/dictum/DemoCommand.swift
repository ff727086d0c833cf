internal import ArgumentParser
internal import Foundation
internal import Proxy

struct DemoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Runs a demonstration: an API whose response changes, the proxy, and a client.")

    @Option(help: ArgumentHelp("Serve the files of this folder, one after another.", valueName: "folder"))
    var versions: String?

    @Option(
        help: ArgumentHelp(
            "The address of the proxy (default: 127.0.0.1:8080). With it, metrics are at a free port.",
            valueName: "address"))
    var listen: String?

    @Flag(help: .hidden)
    var once = false

    /// The path of this program as a command for any folder; the bare name if it was found through PATH.
    private static var program: String {
        let name = CommandLine.arguments.first ?? "dictum"
        return name.contains("/") ? URL(filePath: name).path : name
    }

    func validate() throws {
        guard let listen else { return }
        guard case .tcp = ConfiguredAddress(listen) else {
            throw ValidationError(
                "--listen: expected HOST:PORT, such as 127.0.0.1:8080; port 0 picks a free port")
        }
    }

    func run() throws {
        Signals.block()
        let shown = if let versions { try DemoVersions(folder: versions) } else { DemoVersions.generated }
        let demo = try Demo(shown, listen: listen)
        try StandardOutput.write(DemoText.introduction(proxy: demo.proxyURL, admin: demo.adminURL))
        defer { demo.stop() }
        guard try demo.printTable() else { return }
        try StandardOutput.write(DemoText.nextSteps(feed: demo.feedURL, program: Self.program))
        if !once {
            demo.keepChanging()
            _ = Signals.wait()
        }
    }
}
