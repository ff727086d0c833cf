internal import HTTP

/// The changes of a route to the fields of its requests or of its responses.
///
/// They apply to fields that have been parsed, and never to those that frame a message or that Dictum sets. A class, so that
/// requests of most routes only see that there is none.
final class FieldEdits: Sendable {
    let names: [HeaderName]
    private let replaced: HeaderNameSet
    private let set: [(name: HeaderName, value: String)]

    /// Returns nil if nothing is changed.
    init?(_ settings: RouteConfiguration.FieldSettings) {
        guard settings != .init() else { return nil }
        set = settings.set.compactMap { field in HeaderName(field.name).map { ($0, field.value) } }
        names = settings.remove.compactMap { HeaderName($0) } + set.map(\.name)
        replaced = HeaderNameSet(names)
    }

    func apply(to headers: inout Headers) {
        remove(from: &headers)
        for (name, value) in set { headers.append(name, value) }
    }

    /// Removes the fields from trailers or an interim head, which get none of the new ones.
    func remove(from headers: inout Headers) {
        for name in names { headers.removeLookalikes(of: name) }
        headers.removeTrailerNames { replaced.contains($0) }
    }

    /// Returns true if the client's or the upstream's own value of a field goes no further.
    func hides(_ name: HeaderName) -> Bool { replaced.contains(name) }
}
