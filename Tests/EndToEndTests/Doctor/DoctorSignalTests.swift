internal import Foundation
internal import Glibc
internal import TestSupport
internal import Testing

/// `dictum doctor --browser` that a signal ends.
@Suite(.timeLimit(.minutes(40))) struct DoctorSignalTests {
    @Test(arguments: [SIGTERM, SIGINT])
    func `a signal ends it by that signal, and the profile of the browser is removed`(signal: Int32) throws {
        let folder = try TemporaryFolder()
        // A browser that hangs: it makes its profile, and says nothing until its pipe ends.
        let script = """
            #!/bin/sh
            for word in "$@"; do case "$word" in --user-data-dir=*) mkdir "${word#*=}" ;; esac; done
            cat <&3 >/dev/null
            """
        try folder.write(Array(script.utf8), to: "chromium")
        // The text is terminated, and used during the call only.
        unsafe chmod(folder.file("chromium"), 0o700)
        let origin = try Origin(
            wire("HTTP/1.1 200 OK", "Cache-Control: max-age=60", body: Feed.bytes(version: 0, items: 9)))
        let doctor = try RunningProcess(
            ["doctor", "--browser", "\(origin.url)/feed"],
            environment: ["PATH": "\(folder.path):/usr/bin:/bin", "TMPDIR": folder.path])
        try waitUntil("the browser has begun") { folder.names().count == 2 }
        doctor.signal(signal)
        #expect(try doctor.result().status == 128 + signal)
        #expect(folder.names() == ["chromium"])
    }
}
