internal import Dictionaries
internal import HTTP

/// A stored answer that the upstream is asked about.
struct StoredAnswer {
    /// Where its body is.
    enum BodyState {
        case loading
        case ready(Body)
        case lost
    }

    let version: Dictionaries.Version
    let kept: KeptHead
    var body = BodyState.loading
    /// The 304 that has come.
    var notModified: ResponseHead?
}
