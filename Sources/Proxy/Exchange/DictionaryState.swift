internal import Dictionaries
internal import Storage

enum DictionaryState {
    /// The request offers no dictionary, or may not use one.
    case none
    /// No version that the request may use has this digest.
    case unknown
    /// The nodes' shared memory is asked for a version with this digest.
    case asked
    /// The body is being read from disk.
    case loading(Version)
    /// The body could not be read in time.
    case cold(Version)
    case ready(Version, Body)

    /// The state as the negotiation needs it.
    var found: DictionaryLookUp {
        switch self {
        case .none: .noneOffered
        case .unknown, .asked: .unknown
        case .loading, .cold: .cold
        case .ready(_, let body) where !DictionaryFit.dcbIsPossible(dictionaryBytes: body.count): .unknown
        case .ready(_, let body):
            .found(prefersDcb: DictionaryFit.prefersDcb(dictionary: body))
        }
    }

    var version: Version? {
        switch self {
        case .none, .unknown, .asked: nil
        case .loading(let version), .cold(let version), .ready(let version, _): version
        }
    }

    var body: Body? {
        if case .ready(_, let body) = self { body } else { nil }
    }

    var isLoading: Bool {
        switch self {
        case .loading, .asked: true
        case .none, .unknown, .cold, .ready: false
        }
    }

    mutating func giveUp() {
        switch self {
        case .loading(let version): self = .cold(version)
        case .asked: self = .unknown
        case .none, .unknown, .cold, .ready: break
        }
    }
}
