internal import HTTP
internal import Testing

@testable internal import dictum

/// The doctor judges single observations, and makes the table of a browser, without any connection.
struct DoctorObservationsTests {
    /// Returns true if a user's pages need the twin URL, after responses with these fields.
    private func needsTwin(
        _ fields: [String: String], _ change: (inout DoctorObservations) -> Void = { _ in }
    ) throws -> Bool {
        var seen = SeenURL()
        for (name, value) in fields { seen.fields[name] = value }
        var observations = try seen.observations()
        change(&observations)
        return observations.needsTwin
    }

    @Test func `a twin URL is for what belongs to one user and is not kept for a minute`() throws {
        #expect(try needsTwin(["Cache-Control": "private, max-age=59"]))
        #expect(try !needsTwin(["Cache-Control": "private, max-age=60"]))
        let short = ["Cache-Control": "max-age=59"]
        #expect(try !needsTwin(short))
        #expect(try needsTwin(short.merging(["Set-Cookie": "sid=1"]) { $1 }))
        for credentials in [RequestCredentials.cookie, .authorization, .field] {
            #expect(try needsTwin(short) { $0.credentials = credentials })
            #expect(try !needsTwin(["Cache-Control": "max-age=60"]) { $0.credentials = credentials })
        }
    }

    @Test func `a twin URL is for pages of the same origin, and for what is offered`() throws {
        let own = ["Cache-Control": "private, max-age=10"]
        #expect(try needsTwin(own))
        #expect(try !needsTwin(own) { $0.page = .sameSite })
        #expect(try !needsTwin(own) { $0.dictionary = nil })
        #expect(try !needsTwin(own.merging(["Use-As-Dictionary": "match=/feed"]) { $1 }))
        let linked = try needsTwin(own) {
            guard let one = $0.dictionary else { return }
            $0.dictionary = DoctorDictionary(
                source: .linked("/d"), url: one.url, response: one.response, body: one.body)
        }
        #expect(!linked)
    }

    @Test(arguments: [400, 405, 404])
    func `a path that refuses GET may be for another method, and one that refuses that is not`(
        status: UInt16
    ) throws {
        var seen = SeenURL()
        seen.change(.nothing) { $0.status = status }
        var observations = try seen.observations()
        let refused: DoctorFinding =
            status == 404 ? .status(404, location: nil) : .wrongMethod(Int(status))
        #expect(Diagnosis(observations).findings.last == refused)
        observations.method = .post
        #expect(Diagnosis(observations).findings.last == .status(Int(status), location: nil))
    }

    @Test(arguments: ["X-Cache", "X-Cache-Status", "X-Proxy-Cache", "CF-Cache-Status", "Cache-Status"])
    func `each field by which caches tell a hit is known`(name: String) throws {
        let found = try SeenURL.problems {
            $0.change(.held) {
                $0.fields["Content-Encoding"] = nil
                $0.fields[name] = "HIT"
            }
        }
        #expect(found == [.cacheIgnoresVary])
    }

    @Test func `a harmless cookie does not hide another one`() {
        var headers = Headers()
        headers.append(.setCookie, "AWSALB=1; Path=/")
        headers.append(.setCookie, "sid=2")
        let variants = ResponseJudgement(headers: headers, receivedAt: SeenURL.receivedAt).variants
        #expect(variants == [.setsHarmlessCookie(["AWSALB"]), .setsCookie(["sid"])])
    }

    @Test func `the table of a browser has what each fetch sent and got, and why one failed`() throws {
        let fetches = [
            DoctorBrowser.Fetch(number: 1, status: 200, coding: "zstd", wireBytes: 5_000, bodyBytes: 90_000),
            DoctorBrowser.Fetch(
                number: 2, status: 200, advertised: true, coding: "dcz", wireBytes: 300, bodyBytes: 90_001),
            DoctorBrowser.Fetch(number: 3, error: "reset"),
        ]
        let diagnosis = try SeenURL().diagnosis()
        let report = DoctorReport(diagnosis, of: try FetchURL(SeenURL.url), browser: fetches)
        try #require(report.lines.count == diagnosis.findings.count + 2)
        let table = report.lines[diagnosis.findings.count].split(separator: "\n").map {
            $0.split(separator: " ").joined(separator: " ")
        }
        let expected = """
            fetch status advertised coding on the wire body
            1 200 no zstd 5,000 90,000
            2 200 yes dcz 300 90,001
            3 0 no reset 0 0
            """
        #expect(table.joined(separator: "\n") == expected)
        #expect(report.lines.last == "\(SeenURL.url): dictionaries will work")
    }
}
