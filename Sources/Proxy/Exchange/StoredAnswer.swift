internal import Dictionaries
internal import HTTP

/// A stored answer that the upstream is asked about.
///
/// Owned by its exchange, on its loop.
final class StoredAnswer {
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

    init(version: Dictionaries.Version, kept: KeptHead) {
        self.version = version
        self.kept = kept
    }
}
