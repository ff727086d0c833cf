internal import Foundation
internal import TestSupport
internal import Testing

/// Standard error of `serve` as systemd's journal takes it: a level before each line, in angle brackets (sd-daemon(3)).
@Suite(.timeLimit(.minutes(40))) struct JournalTests {
    private static let stream = "JOURNAL_STREAM=$(stat -L -c %d:%i /proc/self/fd/2)"

    @Test(arguments: ["json", "text"])
    func `the journal is told the level of each event`(format: String) throws {
        let proxy = try ServedProxy(
            Origin(storable(Feed.bytes(version: 0, items: 4))), in: TemporaryFolder(),
            "routes: [{match: /*}, {match: /feed}]", log: "format: \(format)",
            launcher: ["/bin/sh", "-c", #"\#(Self.stream) exec "$@""#, "sh"])
        let errors = try proxy.process.terminate().errors
        let lines = errors.split(separator: "\n")
        #expect(lines.contains { $0.hasPrefix("<4>") && $0.contains("never reached") }, "\(errors)")
        #expect(lines.contains { $0.hasPrefix("<6>") && $0.contains("listening on ") }, "\(errors)")
    }

    @Test(arguments: ["json", "text"])
    func `each event has its time, its level and its text`(format: String) throws {
        let begun = Date()
        let proxy = try ServedProxy(
            Origin(storable(Feed.bytes(version: 0, items: 4))), in: TemporaryFolder(),
            log: "format: \(format)")
        let errors = try proxy.process.terminate().errors
        let line = try #require(errors.split(separator: "\n").first { $0.contains("listening on http") })
        var parts = line.split(separator: " ", maxSplits: 2).map(String.init)
        if format == "json" {
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: String]
            parts = ["time", "level", "message"].compactMap { object?[$0] }
        }
        try #require(parts.count == 3, "\(line)")
        #expect(parts[1] == "info" && parts[2].hasPrefix("listening on http"), "\(line)")
        let time = try #require(ISO8601DateFormatter().date(from: parts[0]), "\(line)")
        // A time has no fraction of a second.
        #expect(time.timeIntervalSince(begun) > -1 && time <= Date())
    }

    @Test func `a start that fails is an error in the journal, with its reason`() throws {
        let folder = try TemporaryFolder()
        try folder.write(Array("limts: {}\n".utf8), to: "dictum.yaml")
        let command = "\(Self.stream) exec \(RunningProcess.dictum) serve --config dictum.yaml"
        let result = try RunningProcess.run(["-c", command], of: "/bin/sh", in: folder.path)
        #expect(result.status == 78)
        #expect(
            !result.errors.isEmpty && result.errorLines.allSatisfy { $0.hasPrefix("<3>") }, "\(result.errors)"
        )
    }

    @Test func `a file or pipe that is not the journal gets no levels`() throws {
        let proxy = try ServedProxy(
            Origin(storable(Feed.bytes(version: 0, items: 4))), in: TemporaryFolder(),
            launcher: ["/usr/bin/env", "JOURNAL_STREAM=8:1"])
        let result = try proxy.process.terminate()
        #expect(result.errorLines.allSatisfy { $0.hasPrefix("{") }, "\(result.errors)")
    }
}
