internal import Foundation
internal import Glibc
internal import Testing

/// The admin listener at an address that other machines reach, in a network namespace that has one.
@Suite(.timeLimit(.minutes(20))) struct AdminReachTests {
    private static let namespace = ["unshare"] + (geteuid() == 0 ? ["-n"] : ["-U", "-r", "-n"])
    private static let isAllowed =
        (try? RunningProcess.run(namespace + ["ip", "link", "set", "lo", "up"], of: "/usr/bin/env").status)
        == 0

    /// Asks under the name of this machine, first from an address that is not of loopback; prints a status per resource.
    private static let script = """
        ip link set lo up && ip addr add 192.0.2.1/32 dev lo || exit 1
        "$0" serve --config dictum.yaml & trap "kill $!" EXIT
        for address in 192.0.2.1 127.0.0.1; do
            for path in / /healthz /readyz /metrics /status /chains /report /config; do
                curl -s -o /dev/null --max-time 60 --retry 60 --retry-connrefused --retry-delay 1 \
                    -H "Host: localhost" -w "%{http_code} " "http://$address:9901$path"
            done
            echo
        done
        """

    @Test(
        .enabled(if: isAllowed, "an address of its own needs a namespace"),
        arguments: [("", "403"), (", token: 0123456789abcdef", "401")])
    func `other machines get the probes and the empty page without the token, whatever Host they write`(
        setting: String, status: String
    ) throws {
        let folder = try TemporaryFolder()
        try folder.write(
            Array(
                """
                upstream: {urls: ["http://127.0.0.1:9"]}
                listeners: [{address: "127.0.0.1:0"}]
                store: {path: ":memory:"}
                admin: {address: "0.0.0.0:9901"\(setting)}
                """.utf8), to: "dictum.yaml")
        let asked = try RunningProcess.run(
            Self.namespace + ["/bin/bash", "-c", Self.script, RunningProcess.dictum], of: "/usr/bin/env",
            in: folder.path)
        let others = ["200", "200", "200"] + Array(repeating: status, count: 5)
        let expected = [others, Array(repeating: "200", count: 8)]
        let got = asked.text.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        #expect(got == expected, "\(asked.text)\(asked.errors)")
    }
}
