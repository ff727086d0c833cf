/// The side of an experiment that a client is on.
enum ExperimentArm: String, CaseIterable, Sendable {
    /// With dictionaries.
    case treated
    /// Without.
    case heldOut = "held-out"
}

/// The place of a client in the experiment.
struct ExperimentPlace: Sendable, Equatable {
    /// A power of two: with fewer clients each is a unit of its own, mostly.
    static let unitCount = 1024

    let arm: ExperimentArm
    /// The group of clients that counts as one unit.
    let unit: Int

    /// Assigns a client by its number, of which one half decides about the arm and the other about the unit.
    init(number: UInt64, holdout: Double) {
        let share = Double(number >> 32) / Double(UInt64(1) << 32)
        arm = share < holdout ? .heldOut : .treated
        unit = Int(number & UInt64(Self.unitCount - 1))
    }
}
