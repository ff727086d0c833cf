internal import ArgumentParser
internal import Dictionaries
internal import Storage

struct StoreVerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Reads every body and checks its digest; exits with 1 if one is damaged.",
        discussion: "The bodies of private routes are encrypted; the proxy checks them when it uses them.")

    @OptionGroup var store: AnyStoreOptions

    @Flag(help: "Remove damaged bodies, and exit with 0 if that succeeds.")
    var repair = false

    @Flag(help: "Print the result as JSON.")
    var json = false

    private struct Report: Encodable {
        struct Damaged: Encodable {
            let sha256: String
            let reason: String
            let urls: [String]
        }
        var bodies = 0
        var bytes = 0
        var damaged: [Damaged] = []
        var removedVersions = 0
        var uncheckedPrivateVersions = 0
    }

    func run() throws {
        if store.shared { return try store.useShared(isJSON: json) { try $0.verify(repairs: repair) } }
        try store.own.source.use { opened in
            var report = Report()
            for versions in try opened.catalogue.versionsByBody() {
                guard let digest = versions.first?.digest,
                    let reason = try check(versions, in: opened.catalogue, &report)
                else { continue }
                report.damaged.append(
                    .init(
                        sha256: digest.hex, reason: reason,
                        urls: versions.map { $0.chainKey.authority + $0.url }
                    ))
                if repair { report.removedVersions += try opened.catalogue.remove(versions).count }
            }
            report.uncheckedPrivateVersions = try opened.catalogue.hidden().versions
            try StandardOutput.write(report, isJSON: json, text(report))
            if !report.damaged.isEmpty && !repair { throw ExitCode.failure }
        }
    }

    /// Returns why the body of these versions is damaged; nil if it is intact or gone.
    private func check(_ versions: [Version], in catalogue: StoreCatalogue, _ report: inout Report) throws
        -> String?
    {
        for version in versions {
            switch try catalogue.body(of: version) {
            case .gone: continue
            case .sound(let body):
                report.bodies += 1
                report.bytes += body.count
                return nil
            case .damaged(let reason):
                report.bodies += 1
                return reason
            }
        }
        return nil
    }

    private func text(_ report: Report) -> String {
        let damaged = report.damaged.map {
            "damaged: \($0.sha256), \($0.reason): \(OutputFormat.plain($0.urls.joined(separator: ", ")))"
        }
        let sum =
            "\(OutputFormat.count(report.bodies, "body")) read, \(OutputFormat.size(report.bytes)) intact, "
            + "\(report.damaged.count) damaged"
            + (repair ? ", \(OutputFormat.count(report.removedVersions, "version")) removed" : "")
            + (report.uncheckedPrivateVersions > 0
                ? "; not read: \(OutputFormat.count(report.uncheckedPrivateVersions, "private version"))"
                : "")
        return (damaged + [sum]).joined(separator: "\n")
    }
}
