internal import ArgumentParser
internal import Dictionaries

/// The codings that a fetch accepts, in the form of `--accept`: `dcz,dcb,zstd,br,gzip`.
struct CodingList: ExpressibleByArgument, Sendable {
    /// All codings that we read, best first.
    static let all = CodingList(codings: [.dcz, .dcb, .zstd, .br, .gzip])

    /// The codings, each once.
    let codings: [ContentCoding]

    init(codings: [ContentCoding]) {
        self.codings = codings
    }

    init?(argument: String) {
        var codings: [ContentCoding] = []
        for word in argument.split(separator: ",", omittingEmptySubsequences: false) {
            let name = word.lowercased().filter { $0 != " " }
            guard let coding = ContentCoding(rawValue: name) else { return nil }
            if !codings.contains(coding) { codings.append(coding) }
        }
        self.init(codings: codings)
    }

    var defaultValueDescription: String { codings.map(\.token).joined(separator: ",") }

    /// True if a dictionary is useful.
    var usesDictionaries: Bool { codings.contains { $0.usesDictionary } }

    /// Returns the field value; dcb and dcz appear only if a dictionary is offered (RFC 9842 section 6.1).
    func acceptEncoding(withDictionary: Bool) -> String {
        let sent = codings.filter { withDictionary || !$0.usesDictionary }
        return sent.isEmpty ? "identity" : sent.map(\.token).joined(separator: ", ")
    }
}
