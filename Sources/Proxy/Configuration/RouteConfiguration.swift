internal import Dictionaries

/// A route: the requests it is for, and its use of dictionaries.
package struct RouteConfiguration: Sendable {
    /// The requests it is for; without patterns until it has been read.
    package var match: RouteMatch
    /// The name of the route in metrics, logs and reports.
    package var text: String { match.text }
    /// The dictionaries of other paths that its documents announce; nil for the default.
    package var announcement: Announcement?
    /// The use of dictionaries; nil if they are off.
    package var dictionary: DictionaryPolicy?
    /// True for the default route: it accepts any path, so its chains start on probation.
    var isImplied = false

    /// Makes a route.
    init(match: RouteMatch, dictionary: DictionaryPolicy?) {
        self.match = match
        self.dictionary = dictionary
    }

    /// The default route: everything, with each path a dictionary for itself.
    package static let implied = {
        var policy = DictionaryPolicy()
        policy.delivery = .inBand
        var route = RouteConfiguration(match: RouteMatch([everything]), dictionary: policy)
        route.isImplied = true
        route.announcement = .off
        return route
    }()

    /// The starting point of a configured route.
    static let fresh = RouteConfiguration(match: RouteMatch([]), dictionary: DictionaryPolicy())

    private static let everything: URLPattern = {
        do {
            return try URLPattern("/*")
        } catch {
            preconditionFailure("/* is a pattern: \(error)")
        }
    }()
}
