internal import Dictionaries

/// One route: which requests it is for, and how dictionaries are used there.
package struct RouteConfiguration: Sendable {
    /// The requests it is for; no pattern at all where none has been read.
    package var match: RouteMatch
    /// The match as metrics, logs and reports name it.
    package var text: String { match.text }
    /// Which dictionaries of other paths its documents announce; nil where nothing is said.
    package var announcement: Announcement?
    /// How dictionaries are used; nil where they are off.
    package var dictionary: DictionaryPolicy?
    /// Whether nobody has written it: it takes whatever comes, so its chains begin in probation.
    var isImplied = false

    /// Makes a route.
    init(match: RouteMatch, dictionary: DictionaryPolicy?) {
        self.match = match
        self.dictionary = dictionary
    }

    /// The route that stands when none is written: everything, each path a dictionary for itself.
    package static let implied = {
        var policy = DictionaryPolicy()
        policy.delivery = .inBand
        var route = RouteConfiguration(match: RouteMatch([everything]), dictionary: policy)
        route.isImplied = true
        route.announcement = .off
        return route
    }()

    /// What a route in a file begins from.
    static let fresh = RouteConfiguration(match: RouteMatch([]), dictionary: DictionaryPolicy())

    private static let everything: URLPattern = {
        do {
            return try URLPattern("/*")
        } catch {
            preconditionFailure("/* is a pattern: \(error)")
        }
    }()
}
