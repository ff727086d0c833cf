internal import Dictionaries

/// What became of the dictionary that a request offers.
enum DictionaryState {
    /// The request offers none, or may not use any.
    case none
    /// The digest names nothing that this request may use.
    case unknown
    /// It is being read from disk.
    case loading(Version)
    /// It could not be read, or not in time.
    case cold(Version)
    case ready(Version, Body)

    /// The same for the decision.
    var found: DictionaryFound {
        switch self {
        case .none: .noneOffered
        case .unknown: .unknown
        case .loading, .cold: .cold
        case .ready(_, let body) where !DictionaryFit.dcbIsPossible(dictionaryBytes: body.count): .unknown
        case .ready(_, let body):
            .found(bytes: body.count, startsWithZstdMagic: DictionaryFit.prefersDcb(dictionary: body))
        }
    }

    /// What was found; nil where nothing was.
    var version: Version? {
        switch self {
        case .none, .unknown: nil
        case .loading(let version), .cold(let version), .ready(let version, _): version
        }
    }

    var body: Body? {
        if case .ready(_, let body) = self { body } else { nil }
    }

    var isLoading: Bool {
        if case .loading = self { true } else { false }
    }
}
