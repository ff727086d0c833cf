/// The side of an experiment that a client is on.
enum ExperimentArm: String, CaseIterable, Sendable {
    /// With dictionaries.
    case treated
    /// Without.
    case heldOut = "held-out"
}

/// The place of a client in the experiment; two bytes, since each record of a request has one.
struct ExperimentPlace: Sendable, Equatable {
    /// A power of two: with fewer clients each is a unit of its own, mostly.
    static let unitCount = 1024
    /// The place of requests that take no part.
    static let none = ExperimentPlace(code: 0)

    /// 0 for none, else one more than twice the unit, and one more than that for clients that are held out.
    private let code: UInt16

    private init(code: UInt16) { self.code = code }

    /// Assigns a client by its number, of which one half decides about the arm and the other about the unit.
    init(number: UInt64, holdout: Double) {
        let share = Double(number >> 32) / Double(UInt64(1) << 32)
        let unit = UInt16(number & UInt64(Self.unitCount - 1))
        self.init(code: 2 * unit + (share < holdout ? 2 : 1))
    }

    /// The side of the client; nil if it takes no part.
    var arm: ExperimentArm? { code == 0 ? nil : code & 1 == 0 ? .heldOut : .treated }

    /// The group of clients that counts as one unit.
    var unit: Int { max(0, Int(code) - 1) / 2 }
}
