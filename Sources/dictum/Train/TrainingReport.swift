internal import Storage

/// The result of `dictum train`.
struct TrainingReport: Encodable, Sendable {
    let match: String
    let verdict: TrainingVerdict
    /// The number of responses that were no samples, by reason.
    let leftOut: [TrainingSamples.Exclusion: Int]
    /// A sentence that says who got the samples.
    let guarantee: String
    var sha256: String?
    var file: String?

    var text: String {
        let plain = verdict.plainBytes
        var lines = [
            "\(match): trained on \(OutputFormat.count(verdict.trainedOn, "response")), judged by "
                + "\(verdict.heldOut) others of \(OutputFormat.grouped(verdict.bodyBytes)) bytes on average, "
                + "\(OutputFormat.grouped(plain)) in the best coding without a dictionary"
        ]
        lines += leftOut.sorted { $0.key.rawValue < $1.key.rawValue }.map {
            "left out: \(OutputFormat.count($0.value, "response")) \($0.key.text)"
        }
        guard !verdict.candidates.isEmpty else {
            lines.append(
                "No file was written: no dictionary could be made of the responses. Those of more than "
                    + "\(OutputFormat.size(DictionaryTraining.trainingBytesMax)) are not trained on")
            return (lines + [guarantee]).joined(separator: "\n") + "\n"
        }
        lines += ["", OutputFormat.table(rows), ""]
        if let best = verdict.best, let file {
            lines.append(
                "\(file): \(best.method.rawValue), \(OutputFormat.grouped(best.bytes)) bytes; a client with "
                    + "\(OutputFormat.count(verdict.responses, "response")) saves \(OutputFormat.grouped(best.balance)) bytes"
            )
        } else {
            lines.append(
                "No file was written: a client with \(OutputFormat.count(verdict.responses, "response")) would save less "
                    + "than the download costs")
        }
        return (lines + [guarantee]).joined(separator: "\n") + "\n"
    }

    private var rows: [[String]] {
        let plain = verdict.plainBytes
        return [["dictionary", "bytes", "download", "dcz", "dcb", "dcb against plain", "pays after"]]
            + verdict.candidates.map { candidate in
                [
                    candidate.method.rawValue, OutputFormat.grouped(candidate.bytes),
                    OutputFormat.grouped(candidate.downloadBytes), OutputFormat.grouped(candidate.dcz),
                    OutputFormat.grouped(candidate.dcb), EstimateText.ratio(candidate.dcb, plain),
                    candidate.paysAfterResponses.map { OutputFormat.count($0, "response") } ?? "never",
                ]
            }
    }
}
