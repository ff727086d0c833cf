enum ExperimentArm: String, CaseIterable, Sendable {
    /// With dictionaries.
    case treated
    /// Without.
    case heldOut = "held-out"
}

/// The place of a client in the experiment; two bytes, since each record of a request has one.
struct ExperimentPlace: Sendable, Equatable {
    /// The number of units, a power of two.
    ///
    /// If there are fewer clients, most have a unit of their own.
    static let unitCount = 1024
    /// The place of requests that take no part.
    static let none = ExperimentPlace(code: 0)

    /// 0 for none; 2 × unit + 1 for a client with dictionaries, and 2 × unit + 2 for one that is held out.
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
