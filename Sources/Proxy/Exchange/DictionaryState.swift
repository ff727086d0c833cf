internal import Dictionaries

/// The state of the dictionary that a request offers.
enum DictionaryState {
    /// The request offers no dictionary, or may not use one.
    case none
    /// No version that the request may use has this digest.
    case unknown
    /// The body is being read from disk.
    case loading(Version)
    /// The body could not be read in time.
    case cold(Version)
    case ready(Version, Body)

    /// The state as the negotiation needs it.
    var found: DictionaryLookUp {
        switch self {
        case .none: .noneOffered
        case .unknown: .unknown
        case .loading, .cold: .cold
        case .ready(_, let body) where !DictionaryFit.dcbIsPossible(dictionaryBytes: body.count): .unknown
        case .ready(_, let body):
            .found(prefersDcb: DictionaryFit.prefersDcb(dictionary: body))
        }
    }

    /// The version found, if any.
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
