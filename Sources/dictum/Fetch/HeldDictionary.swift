internal import Dictionaries

/// A cached dictionary with its bytes, which have been found to have its digest.
struct HeldDictionary: Sendable {
    let record: CachedDictionary
    let body: Body
}
