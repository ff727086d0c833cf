/// Why a body gets no slot: it becomes no version, and its answer carries no offer.
///
/// One whose length was not known may lose its slot on the way, when its offer is out. The answer itself goes on as it
/// would, as a delta where that is possible.
package enum AdmissionRefusal: String, Error, CaseIterable, Sendable {
    /// Larger than the store, or its share for chains in probation, can take.
    case size
    /// `store.memory` is full of copies and of bodies that wait for the disk.
    case memory
    /// `store.write_rate` is used up.
    case rate
    /// Another answer of the same URL and variant is being copied.
    case copying
    /// URL and variant are so long that they would take more than the body is worth.
    case names
    /// A successor takes over, to which the body will come with its next request.
    case leaving
}
