internal import Dictionaries
internal import HTTP
internal import TestSupport

@testable internal import dictum

/// What a doctor has seen of `https://api.test/feed`, all of it well unless a test says otherwise.
struct SeenURL {
    static let url = "https://api.test/feed"
    static let receivedAt: Int64 = 1_700_000_000
    static let body = feed(1)

    /// The fields of every answer.
    var fields = [
        "Vary": "Accept-Encoding, Available-Dictionary", "Cache-Control": "max-age=600",
        "Use-As-Dictionary": #"match="/feed""#,
    ]
    var transport = DoctorTransport.systemAuthority
    /// What each request offers, and what is done to its answer.
    var requests: [(offer: DoctorProbe.Offer, change: (inout Answer) -> Void)] = [
        .nothing, .held, .nothing, .unknown, .held, .nothing,
    ].map { ($0, { _ in }) }
    var hasDictionary = true

    /// An answer that a test may change.
    struct Answer {
        var status: UInt16 = 200
        var fields: [String: String]
        var plain = SeenURL.body
        /// The coded body; by itself that of `plain`.
        var wire: [UInt8]?
    }

    /// Changes the answers to what offers this.
    mutating func change(_ offer: DoctorProbe.Offer, _ change: @escaping (inout Answer) -> Void) {
        for index in requests.indices where requests[index].offer == offer {
            requests[index].change = change
        }
    }

    /// What the doctor has then.
    func observations() throws -> DoctorObservations {
        let url = try FetchURL(Self.url)
        var seen = DoctorObservations(url: url, transport: transport)
        let first = fetchAnswer(.init(fields: fields))
        let dictionary = DoctorDictionary(source: .own, url: url, answer: first, body: Body(Self.body))
        if hasDictionary { seen.dictionary = dictionary }
        let unknown = HeldDictionary(record: dictionary.held.record, body: Body(feed(99)))
        for request in requests {
            var answer = Answer(fields: fields)
            if request.offer == .held { answer.fields["Content-Encoding"] = "dcz" }
            request.change(&answer)
            let held = [.nothing: nil, .held: dictionary.held, .unknown: unknown][request.offer] ?? nil
            let visit = FetchVisit(url: url, accepted: .all, offering: held)
            seen.probes.append(DoctorProbe(request.offer, visit, fetchAnswer(answer)))
        }
        return seen
    }

    /// What the diagnosis is.
    func diagnosis() throws -> Diagnosis { Diagnosis(try observations()) }

    private func fetchAnswer(_ answer: Answer) -> FetchAnswer {
        var headers = Headers()
        for (name, value) in answer.fields {
            if let name = HeaderName(name) { headers.append(name, value) }
        }
        let isDelta = answer.fields["Content-Encoding"] == "dcz"
        let body = answer.wire ?? (isDelta ? coded(answer.plain, .dcz, over: Self.body) : answer.plain)
        return FetchAnswer(
            head: ResponseHead(status: Status(rawValue: answer.status), headers: headers), body: body,
            receivedAt: Self.receivedAt)
    }
}
