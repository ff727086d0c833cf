package import Dictionaries

/// One route: which requests it is for, and how dictionaries are used there.
package struct RouteConfiguration: Sendable {
    /// The pattern as it was written.
    package var text: String
    /// The requests it is for.
    package var match: URLPattern
    /// How dictionaries are used; nil where they are off.
    package var dictionary: DictionaryPolicy?
    /// Whether nobody has written it: it takes whatever comes, so its chains begin in probation.
    var isImplied = false

    /// Makes a route.
    package init(text: String, match: URLPattern, dictionary: DictionaryPolicy?) {
        self.text = text
        self.match = match
        self.dictionary = dictionary
    }

    /// The route that stands when none is written: everything, each path a dictionary for itself.
    package static let implied = {
        var policy = DictionaryPolicy()
        policy.delivery = .inBand
        var route = RouteConfiguration(text: "/*", match: everything, dictionary: policy)
        route.isImplied = true
        return route
    }()

    /// What a route in a file begins from; an empty text says that `match` has not been read.
    static let fresh = RouteConfiguration(text: "", match: everything, dictionary: DictionaryPolicy())

    private static let everything: URLPattern = {
        do {
            return try URLPattern("/*")
        } catch {
            preconditionFailure("/* is a pattern: \(error)")
        }
    }()
}
