/// The verdict on a response that would become a version.
package enum AdmissionVerdict: Equatable, Sendable {
    /// The response may become a version.
    case admit
    /// The response must not become a version, for this reason.
    case refuse(Reason)

    /// The reason for a refusal.
    package var reason: Reason? {
        switch self {
        case .admit: nil
        case .refuse(let reason): reason
        }
    }
}
