/// The matches that label counters and log lines; each keeps its position for the life of the process.
///
/// A reload only appends. Counters continue if the same match is still configured, and requests in progress keep their
/// label.
struct RouteNames: Sendable {
    /// The bound over all reloads; requests of further matches count as requests without a route.
    private static let countMax = 4_000

    /// The matches in the order of their positions.
    private(set) var texts: [String] = []
    private var places: [String: Int] = [:]

    init(_ configuration: Configuration, after former: RouteNames? = nil) {
        if let former { self = former }
        for route in configuration.routes where places[route.text] == nil && texts.count < Self.countMax {
            places[route.text] = texts.count
            texts.append(route.text)
        }
    }

    /// Returns the position of a match.
    func place(of text: String) -> Int? { places[text] }
}
