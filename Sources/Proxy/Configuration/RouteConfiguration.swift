package import Dictionaries

/// One route: which requests it is for, and how dictionaries are used there.
package struct RouteConfiguration: Sendable {
    /// The pattern as it was written.
    package var text: String
    /// The requests it is for.
    package var match: URLPattern
    /// How dictionaries are used; nil where they are off.
    package var dictionary: DictionaryPolicy?

    /// The route that stands when none is written: everything, each path a dictionary for itself.
    package static let implied = RouteConfiguration(
        text: "/*", match: .everything, dictionary: DictionaryPolicy(delivery: .inBand))
}
