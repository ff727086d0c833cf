internal import Dictionaries

/// A cached dictionary whose body has been checked against its digest.
struct HeldDictionary: Sendable {
    let record: CachedDictionary
    let body: Body
}
