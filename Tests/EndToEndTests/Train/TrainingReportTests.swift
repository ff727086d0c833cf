internal import Testing

@testable internal import Storage
@testable internal import dictum

/// The text of `dictum train` for a given verdict.
struct TrainingReportTests {
    private static func text(_ candidates: [TrainingVerdict.Candidate], best: Int?) -> String {
        let verdict = TrainingVerdict(
            trainedOn: 12, heldOut: 13, bodyBytes: 9_000, plainBytes: 1_000, responses: 100,
            candidates: candidates, best: best.map { candidates[$0] })
        var report = TrainingReport(
            match: "/feed", verdict: verdict, leftOut: [.noStore: 1, .credentials: 2], guarantee: "Vouched.")
        report.file = best.map { _ in "x.dict" }
        return report.text
    }

    private static let paying = TrainingVerdict.Candidate(
        method: .trained, bytes: 4_000, dcz: 500, dcb: 400, downloadBytes: 2_000, paysAfterResponses: 4,
        balance: 58_000)
    private static let useless = TrainingVerdict.Candidate(
        method: .samples, bytes: 8_000, dcz: 1_200, dcb: 1_100, downloadBytes: 3_000, paysAfterResponses: nil,
        balance: -13_000)

    @Test func `each candidate has a row, and the best a sentence`() {
        let text = Self.text([Self.paying, Self.useless], best: 0)
        let lines = text.split(separator: "\n").map {
            $0.split(separator: " ").joined(separator: " ")
        }
        let expected = """
            /feed: trained on 12 responses, judged by 13 others of 9,000 bytes on average, 1,000 in the best coding without a dictionary
            left out: 2 responses whose request had a credential
            left out: 1 response with no-store
            dictionary bytes download dcz dcb dcb against plain pays after
            trained 4,000 2,000 500 400 -60.0 % 4 responses
            samples 8,000 3,000 1,200 1,100 +10.0 % never
            x.dict: trained, 4,000 bytes; a client with 100 responses saves 58,000 bytes
            Vouched.
            """
        #expect(lines.joined(separator: "\n") == expected, "\(text)")
    }

    @Test func `without a dictionary that pays no file was written, and without any neither`() {
        let none = Self.text([Self.useless], best: nil)
        #expect(none.contains("No file was written: a client with 100 responses would save less than "))
        #expect(none.contains("never") && none.hasSuffix("\nVouched.\n"))
        let empty = Self.text([], best: nil)
        #expect(empty.contains("No file was written: no dictionary could be made of the responses."))
        #expect(!empty.contains("never") && empty.hasSuffix("\nVouched.\n"))
    }
}
