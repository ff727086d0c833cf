internal import Foundation
internal import Glibc
internal import TestSupport
internal import Testing

private let namespace = ["unshare"] + (geteuid() == 0 ? ["-n"] : ["-U", "-r", "-n"])
private let isAllowed =
    (try? RunningProcess.run(namespace + ["ip", "link", "set", "lo", "up"], of: "/usr/bin/env").status) == 0

/// The admin listener at an address that other machines reach, in a network namespace that has such addresses.
@Suite(.enabled(if: isAllowed, "addresses of their own need a namespace"), .timeLimit(.minutes(40)))
struct AdminReachTests {
    /// Starts Dictum; `ask` prints the status of a response.
    private static let begin = """
        ip link set lo up && ip addr add 192.0.2.1/32 dev lo && ip addr add 192.0.2.2/32 dev lo || exit 1
        "$0" serve --config dictum.yaml & trap "kill $!" EXIT
        ask() { curl -s -o /dev/null --max-time 60 -H "Host: localhost" -w "%{http_code} " "$@"; }
        ask --retry 60 --retry-connrefused --retry-delay 1 http://192.0.2.1:9901/healthz; echo

        """

    /// Runs a script in the namespace, and returns the words of its lines behind the first.
    private func run(_ script: String, admin settings: String = "") throws -> [[String]] {
        let folder = try TemporaryFolder()
        try folder.write(
            Array(
                """
                upstream: {urls: ["http://127.0.0.1:9"]}
                listeners: [{address: "127.0.0.1:0"}]
                store: {path: ":memory:"}
                admin: {address: "0.0.0.0:9901"\(settings)}
                """.utf8), to: "dictum.yaml")
        let result = try RunningProcess.run(
            namespace + ["/bin/bash", "-c", Self.begin + script, RunningProcess.dictum], of: "/usr/bin/env",
            in: folder.path)
        let lines = result.text.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        try #require(lines.first == ["200"], "\(result.text)\(result.errors)")
        return Array(lines.dropFirst())
    }

    @Test(arguments: [("", "403"), (", token: 0123456789abcdef", "401")])
    func `other machines get the probes and the empty page without the token, whatever Host they write`(
        settings: String, status: String
    ) throws {
        let lines = try run(
            """
            for address in 192.0.2.1 127.0.0.1; do
                for path in / /healthz /readyz /metrics /status /chains /report /config; do
                    ask http://$address:9901$path
                done
                echo
            done
            """, admin: settings)
        let others = ["200", "200", "200"] + Array(repeating: status, count: 5)
        #expect(lines == [others, Array(repeating: "200", count: 8)])
    }

    @Test func `a machine that takes all connections leaves some for probes`() throws {
        let lines = try run(
            """
            for number in {1..64}; do exec {held}<>/dev/tcp/192.0.2.1/9901; done
            ask --interface 192.0.2.2 http://192.0.2.1:9901/healthz; ask http://127.0.0.1:9901/healthz
            """)
        #expect(lines == [["200", "200"]])
    }
}
