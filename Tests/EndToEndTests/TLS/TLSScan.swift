internal import Foundation
internal import TestSupport
internal import Testing

/// A report of sslscan about a TLS server.
struct TLSScan {
    /// One element of its report.
    private struct Finding {
        let name: String
        let attributes: [String: String]

        subscript(_ attribute: String) -> String { attributes[attribute] ?? "" }
        var text: String { "\(name) \(attributes.sorted { $0.key < $1.key }.map { "\($0)=\($1)" })" }
    }

    private let findings: [Finding]
    private let text: String

    /// Scans a port of loopback; the certificates tell where its report may lie.
    init(port: UInt16, in folder: TestCertificates) throws {
        let result = try RunningProcess.run(
            ["sslscan", "--no-colour", "--show-sigs", "--xml=scan.xml", "localhost:\(port)"],
            of: "/usr/bin/env", in: folder.path)
        text = result.text
        let report = try String(contentsOfFile: folder.file("scan.xml"), encoding: .utf8)
        findings = report.matches(of: /<([a-z-]+)((?: [a-z]+="[^"]*")+) *\/?>/).map { element in
            let attributes = element.output.2.matches(of: /([a-z]+)="([^"]*)"/).map {
                (String($0.output.1), String($0.output.2))
            }
            return Finding(
                name: String(element.output.1), attributes: Dictionary(attributes) { first, _ in first })
        }
    }

    /// The versions that are spoken.
    var versions: Set<String> {
        Set(
            findings.filter { $0.name == "protocol" && $0["enabled"] == "1" }.map {
                $0["type"] + $0["version"]
            })
    }

    /// The ciphers of a version, the server's favourite first.
    func ciphers(_ version: String) -> [String] {
        findings.filter { $0.name == "cipher" && $0["sslversion"] == version }.map { $0["cipher"] }
    }

    /// The number of groups and signature algorithms that it tried successfully.
    var keyCount: Int { findings.count { $0.name == "group" || $0.name == "connection-signature-algorithm" } }

    /// Everything that is not as it should be, one line each.
    var complaints: [String] {
        findings.filter(isBad).map(\.text)
            + (text.contains("Server supports TLS Fallback SCSV") ? [] : ["no TLS Fallback SCSV"])
    }

    private func isBad(_ finding: Finding) -> Bool {
        switch finding.name {
        case "protocol":
            return finding["enabled"] == "1"
                && !["tls1.2", "tls1.3"].contains(finding["type"] + finding["version"])
        // RFC 5746: insecure renegotiation is a fault.
        case "renegotiation": return finding["supported"] == "1" && finding["secure"] != "1"
        case "compression": return finding["supported"] != "0"
        case "fallback": return finding["supported"] != "1"
        case "heartbleed": return finding["vulnerable"] != "0"
        case "cipher":
            let name = finding["cipher"]
            let isSound = name.hasPrefix("TLS_") || name.hasPrefix("ECDHE-")
            let isAuthenticated = name.contains("GCM") || name.contains("CHACHA20")
            return !isSound || !isAuthenticated || !["strong", "acceptable"].contains(finding["strength"])
        case "group": return (Int(finding["bits"]) ?? 0) < 128
        case "connection-signature-algorithm":
            return ["sha1", "sha224", "md5", "dsa_", "any"].contains { weak in
                finding["name"].hasPrefix(weak) || finding["name"].hasSuffix(weak)
            }
        default: return false
        }
    }
}
