internal import Dictionaries
internal import DictionaryFiles
internal import HTTP
internal import TestSupport
internal import Testing

@testable internal import dictum

/// The observations of a doctor at `https://api.test/feed`, all good unless a test changes them.
struct SeenURL {
    static let url = "https://api.test/feed"
    static let receivedAt: Int64 = 1_700_000_000
    static let body = feed(1)

    /// The fields of every response.
    var fields = [
        "Vary": "Accept-Encoding, Available-Dictionary", "Cache-Control": "max-age=600",
        "Use-As-Dictionary": #"match="/feed""#,
    ]
    var transport = DoctorFinding.systemAuthority
    /// The offer of each request, and the change to its response.
    var requests: [(offer: DoctorProbe.Offer, change: (inout Response) -> Void)] = [
        .nothing, .held, .nothing, .unknown, .held, .nothing,
    ].map { ($0, { _ in }) }
    var hasDictionary = true

    /// A response that a test may change.
    struct Response {
        var status: UInt16 = 200
        var fields: [String: String]
        var plain = SeenURL.body
        /// The coded body; by default that of `plain`.
        var wire: [UInt8]?
    }

    /// Changes the responses to requests with an offer.
    mutating func change(_ offer: DoctorProbe.Offer, _ change: @escaping (inout Response) -> Void) {
        for index in requests.indices where requests[index].offer == offer {
            requests[index].change = change
        }
    }

    func observations() throws -> DoctorObservations {
        let url = try FetchURL(Self.url)
        var seen = DoctorObservations(url: url, transport: transport)
        let first = fetchResponse(.init(fields: fields))
        let dictionary = DoctorDictionary(source: .own, url: url, response: first, body: Body(Self.body))
        if hasDictionary { seen.dictionary = dictionary }
        let unknown = VerifiedDictionary(record: dictionary.held.record, body: Body(feed(99)))
        for request in requests {
            var response = Response(fields: fields)
            if request.offer == .held { response.fields["Content-Encoding"] = "dcz" }
            request.change(&response)
            let held = [.nothing: nil, .held: dictionary.held, .unknown: unknown][request.offer] ?? nil
            let visit = FetchVisit(url: url, accepted: .all, offered: held)
            seen.probes.append(DoctorProbe(request.offer, visit, fetchResponse(response)))
        }
        return seen
    }

    func diagnosis() throws -> Diagnosis { Diagnosis(try observations()) }

    private func fetchResponse(_ response: Response) -> FetchResponse {
        var headers = Headers()
        for (name, value) in response.fields {
            if let name = HeaderName(name) { headers.append(name, value) }
        }
        let isDelta = response.fields["Content-Encoding"] == "dcz"
        let body = response.wire ?? (isDelta ? coded(response.plain, .dcz, over: Self.body) : response.plain)
        return FetchResponse(
            head: ResponseHead(status: Status(rawValue: response.status), headers: headers), body: body,
            receivedAt: Self.receivedAt)
    }
}

extension SeenURL {
    static let used = DoctorFinding.used(
        .dcz, wireBytes: coded(body, .dcz, over: body).count, bodyBytes: body.count)
    static let offered = DoctorFinding.offered(match: "/feed", seconds: 600)

    /// Returns the findings, except the good ones, about a URL that `change` has changed.
    static func problems(_ change: (inout SeenURL) -> Void) throws -> [DoctorFinding] {
        var seen = SeenURL()
        change(&seen)
        let diagnosis = try seen.diagnosis()
        let problems = diagnosis.findings.filter { $0.level != .good }
        #expect(diagnosis.works == problems.allSatisfy { $0.level == .warning })
        return problems
    }
}
