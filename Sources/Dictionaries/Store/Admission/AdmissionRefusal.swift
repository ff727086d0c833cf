/// A reason not to admit a body: it becomes no version, and its response carries no offer.
///
/// A body of unknown length may lose its slot after its offer was sent. The response itself goes on, as a
/// delta where that is possible.
package enum AdmissionRefusal: String, Error, CaseIterable, Sendable {
    /// The body is larger than the store, or the share for chains in probation, can take.
    case size
    /// `store.memory` is full of copies and of bodies that are not on disk yet.
    case memory
    /// `store.write_rate` is used up.
    case rate
    /// Another response with the same key is being copied.
    case copying
    /// URL and variant are so long that they would take more space than the body is worth.
    case names
    /// A successor takes the store over; the body can be admitted there at its next request.
    case leaving
}
