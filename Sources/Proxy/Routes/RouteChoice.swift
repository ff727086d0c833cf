internal import Dictionaries

/// The route of a request, and what other spellings of its path mean for it.
///
/// The routed path chooses the route, so that no spelling passes by a route that guards something. A path that
/// recipients could read in two ways is refused if one of the two is guarded.
struct RouteChoice {
    /// The reason for which a path goes to no upstream.
    enum Refusal: Sendable {
        /// It is below `/.dictum/`, in any reading.
        case reserved
        case ambiguous
    }

    let route: Route
    let refusal: Refusal?
    /// True if the path is in normal form, and all its readings lead to the route.
    let isPathNormal: Bool
    /// True if a reading leads to a private route, whose queries are not logged.
    let isPrivate: Bool

    /// The choice for a path that has one reading.
    init(plain url: PathAndQuery, _ route: Route) {
        self.route = route
        refusal = DictionaryPath.isReserved(url.path) ? .reserved : nil
        isPathNormal = true
        isPrivate = route.isPrivate
    }

    /// The choice for any path; `match` returns the route of a reading.
    init(_ path: String, _ form: NormalPath.Form, _ readings: PathReadings, of match: (String) -> Route) {
        let route = match(readings.routed)
        let lenient = readings.lenient.map(match).filter { $0 !== route }
        let unresolved = readings.unresolved.map(match).filter { $0 !== route }
        let all = [readings.routed] + readings.lenient + readings.unresolved
        let isAmbiguous =
            lenient.contains { $0.guards || route.guards }
            // The route of a path such as /x/../login is that of /login, whatever guards all other paths.
            || unresolved.contains(where: \.guardsSomePaths)
            || readings.hidesSegments && route.guardsSomePaths
            || form == .other && route.prefix?.isLeft(by: path) == true
        self.route = route
        refusal = all.contains(where: DictionaryPath.isReserved) ? .reserved : isAmbiguous ? .ambiguous : nil
        isPathNormal = form != .other && lenient.isEmpty
        isPrivate = ([route] + lenient + unresolved).contains(where: \.isPrivate)
    }
}
