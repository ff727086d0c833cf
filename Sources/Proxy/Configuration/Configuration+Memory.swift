extension Configuration {
    /// The memory of all budgets, and the share of each.
    package struct Memory: Sendable, Equatable {
        package var total: Int?
        private var shares: [Budget: Double] = [:]

        package subscript(_ budget: Budget) -> Double {
            get { shares[budget] ?? budget.share }
            set { shares[budget] = newValue == budget.share ? nil : newValue }
        }
    }

    func checkMemory(_ reader: inout SettingsReader) {
        let percent = Budget.allCases.reduce(0) { $0 + memory[$1] } * 100
        guard percent > 100.001 else { return }
        reader.report(
            "the shares add up to \(Int((percent - 0.001).rounded(.up)))%: expected at most 100%",
            of: "memory")
    }
}

extension Settings {
    static let memory: [Setting<Configuration.Memory>] =
        [
            .value(
                "total", \.total, .sizeOrAuto(16 * mebibyte...tebibyte), onReload: .atNextStart,
                """
                The limit of all budgets together. auto: a quarter of what the process may use, at least 64MiB. That is the \
                least of the machine's memory, the limits of the control groups, and ulimit -v and -d.
                """)
        ]
        + Budget.allCases.map { budget -> Setting<Configuration.Memory> in
            .value(budget.rawValue, \.[budget], .percentage(0...100), onReload: .atNextStart, budget.prose)
        }
}

extension SettingType where Value == Int? {
    /// Makes a type for a size in bytes; `auto` is nil.
    static func sizeOrAuto(_ bounds: ClosedRange<Int>) -> SettingType {
        let size = SettingType<Int>.size(bounds)
        return scalar(
            "auto, or \(size.expectation)", write: { $0.map(size.write) ?? "auto" },
            read: { $0 == "auto" ? .some(nil) : Quantity.size.value(of: $0, in: bounds).map(Optional.some) })
    }
}
