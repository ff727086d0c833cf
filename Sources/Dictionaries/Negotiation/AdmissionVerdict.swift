/// Whether an answer may become a version.
package enum AdmissionVerdict: Equatable, Sendable {
    /// It may.
    case admit
    /// It must not, for this reason.
    case refuse(Reason)

    /// The reason for a refusal.
    package var reason: Reason? {
        switch self {
        case .admit: nil
        case .refuse(let reason): reason
        }
    }
}
