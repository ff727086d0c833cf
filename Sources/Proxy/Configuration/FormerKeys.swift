/// The keys of configurations before 1.0, so that messages name what stands in their place.
enum FormerKeys {
    private static let texts = [
        "keep_alive": "its name is now \"keepalive\"",
        "keep_alive_timeout": "its name is now \"keepalive_timeout\"",
        "store.memory": share("store"),
        "compression.memory": share("coding"),
        "compression.prepared_memory": share("prepared"),
        "compression.delta_memory": share("deltas"),
        "observe.memory": share("observe"),
        "dictionary.versions": "it is not needed: max_age and store.max_size limit what clients do not hold",
        "listeners.fast_open": "TCP Fast Open is not supported any more",
    ]

    private static func share(_ budget: String) -> String {
        "set \"memory\", one size for all budgets; memory.\(budget) is the share of this one"
    }

    /// Returns what to do about a key; nil if it never was one.
    ///
    /// - Parameter path: The dotted path of the key, such as `routes[1].dictionary.versions`.
    static func help(_ key: String, path: String) -> String? {
        let section = path.split(separator: ".").dropLast().last?.prefix { $0 != "[" } ?? ""
        return texts["\(section).\(key)"] ?? texts[key]
    }
}
