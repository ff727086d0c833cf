/// The matches under which requests are counted and logged, each in a place of its own for the life of the process.
///
/// A reload only appends: what is counted of a route goes on if the same match is there again, and requests that are
/// still under way count where they began.
struct RouteNames: Sendable {
    /// What all reloads together may bring; further matches are counted as requests without a route.
    private static let countMax = 4_000

    /// The matches in the order of their places.
    private(set) var texts: [String] = []
    private var places: [String: Int] = [:]

    init(_ configuration: Configuration, after former: RouteNames? = nil) {
        if let former { self = former }
        for route in configuration.routes where places[route.text] == nil && texts.count < Self.countMax {
            places[route.text] = texts.count
            texts.append(route.text)
        }
    }

    /// The place of a match.
    func place(of text: String) -> Int? { places[text] }
}
