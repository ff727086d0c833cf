internal import Foundation

/// A folder with an authority and what it has signed, all made by the openssl command; goes with its last reference.
package final class TestCertificates: Sendable {
    private let folder: TemporaryFolder
    /// The folder's path.
    package var path: String { folder.path }

    /// Makes the authority `ca.pem`, and for 127.0.0.1 and localhost `server.pem` with `server.key`.
    package init() throws {
        folder = try TemporaryFolder()
        try openssl(
            "req -x509 \(Self.newKey) -keyout ca.key -out ca.pem -days 30 -subj /CN=Authority "
                + "-addext keyUsage=critical,keyCertSign,cRLSign")
        try issue("server", names: "DNS:localhost,DNS:api.test,IP:127.0.0.1")
    }

    private static let curve = "ec -pkeyopt ec_paramgen_curve:P-256"
    private static let newKey = "-newkey \(curve) -nodes"

    /// The path of a file.
    package func file(_ name: String) -> String { "\(path)/\(name)" }

    /// Makes `NAME.pem` and `NAME.key`, signed by the authority, for names such as `DNS:a.test`.
    ///
    /// `days` is how long it is valid; `-1` ended yesterday. `key` is what kind of key it has, such as `rsa:2048`.
    package func issue(
        _ name: String, names: String, days: Int = 30, subject: String? = nil, key: String? = nil
    ) throws {
        try openssl(
            "req -newkey \(key ?? Self.curve) -nodes -keyout \(name).key -out \(name).csr -subj \(subject ?? "/CN=\(name)")"
        )
        let text = "subjectAltName=\(names)\nextendedKeyUsage=serverAuth,clientAuth\n"
        try Data(text.utf8).write(to: URL(filePath: file("\(name).ext")))
        try openssl(
            "x509 -req -in \(name).csr -CA ca.pem -CAkey ca.key -CAcreateserial -days \(days) "
                + "-extfile \(name).ext -out \(name).new")
        // In one step, so that nobody reads half of it.
        try FileManager.default.moveReplacing(file("\(name).new"), file("\(name).pem"))
    }

    /// Makes the same, valid from so many seconds after now until so many seconds after now.
    package func issue(_ name: String, names: String, seconds: ClosedRange<Int>) throws {
        try issue(name, names: names)
        let text = """
            [ca]
            default_ca = own
            [own]
            database = index-\(name).txt
            new_certs_dir = .
            default_md = sha256
            policy = any
            rand_serial = yes
            [any]
            commonName = supplied

            """
        try write(text, to: "\(name).cnf")
        try write("", to: "index-\(name).txt")
        let now = Date.now
        let format = Date.VerbatimFormatStyle(
            format: """
                \(year: .padded(4))\(month: .twoDigits)\(day: .twoDigits)\
                \(hour: .twoDigits(clock: .twentyFourHour, hourCycle: .zeroBased))\(minute: .twoDigits)\(second: .twoDigits)Z
                """, timeZone: .gmt, calendar: Calendar(identifier: .gregorian))
        let times = [seconds.lowerBound, seconds.upperBound].map {
            now.addingTimeInterval(TimeInterval($0)).formatted(format)
        }
        try openssl(
            "ca -batch -notext -config \(name).cnf -cert ca.pem -keyfile ca.key -in \(name).csr -out \(name).pem "
                + "-extfile \(name).ext -startdate \(times[0]) -enddate \(times[1])")
    }

    /// Copies a file over another.
    package func copy(_ name: String, to other: String) throws {
        let bytes = try Data(contentsOf: URL(filePath: file(name)))
        try bytes.write(to: URL(filePath: file(other)), options: .atomic)
    }

    /// Writes a file.
    package func write(_ text: String, to name: String) throws {
        try Data(text.utf8).write(to: URL(filePath: file(name)))
    }

    /// The settings of a listener that has such a certificate, as YAML within one line.
    package func settings(_ name: String = "server", _ more: String = "") -> String {
        "tls: {certificate: \"\(file(name)).pem\", private_key: \"\(file(name)).key\"\(more)}"
    }

    /// Runs the openssl command in the folder.
    package func openssl(_ arguments: String) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["openssl"] + arguments.split(separator: " ").map(String.init)
        process.currentDirectoryURL = URL(filePath: path)
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw ForeignTool.Failure(
                description: "openssl \(arguments) ended with \(process.terminationStatus)")
        }
    }
}

extension FileManager {
    fileprivate func moveReplacing(_ source: String, _ target: String) throws {
        let bytes = try Data(contentsOf: URL(filePath: source))
        try bytes.write(to: URL(filePath: target), options: .atomic)
        try removeItem(atPath: source)
    }
}
