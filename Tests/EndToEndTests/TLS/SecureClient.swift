internal import Foundation
internal import TestSupport

/// Clients that are not ours, before a proxy that speaks TLS.
struct SecureClient {
    let proxy: ServedProxy
    let certificates: TestCertificates

    /// Fetches a path with curl, which trusts the test's certificate authority.
    func curl(_ path: String, _ arguments: String...) throws -> CurlAnswer {
        try proxy.curl(path, arguments: ["--cacert", certificates.file("ca.pem")] + arguments)
    }

    /// Returns the output of `openssl s_client`, which sends `input` and waits until the server closes.
    func sClient(_ arguments: String..., input: String = "GET / HTTP/1.0\r\n\r\n") throws -> String {
        let command = """
            printf '\(input.replacing("\r", with: #"\r"#).replacing("\n", with: #"\n"#))' |
            timeout 20 openssl s_client -connect 127.0.0.1:\(proxy.port) -CAfile ca.pem -ign_eof \
            \(arguments.joined(separator: " ")) 2>&1
            """
        return try RunningProcess.run(["-c", command], of: "/bin/bash", in: certificates.path).text
    }

    /// Runs a Python script with the port as its argument.
    func python(_ script: String) throws -> ProcessResult {
        try certificates.write(script, to: "client.py")
        return try RunningProcess.run(
            ["client.py", "\(proxy.port)"], of: "/usr/bin/python3", in: certificates.path)
    }
}
