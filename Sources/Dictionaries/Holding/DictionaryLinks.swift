/// The rule by which clients fetch the dictionaries that a response names (RFC 9842 section 3); pure.
///
/// Such a request carries no field of the request whose response named the dictionary, and no cookie: everybody may have
/// what a Link names. It is sent when the client is idle, and not over an expensive network.
package enum DictionaryLinks {
    /// The number of dictionaries that are fetched for one response.
    package static let countMax = 4

    /// Returns the URLs that the Link fields of a response name: those of its own origin but not of its own URL.
    ///
    /// - Parameter resolve: Makes a URL of a target as written, relative to that of the response; nil if it is none.
    package static func named<Location>(
        by lines: [String], status: Int, of own: TargetURI,
        resolve: (String) -> (location: Location, target: TargetURI)?
    ) -> [(location: Location, target: TargetURI)] {
        guard status == 200 else { return [] }
        let all = LinkField.dictionaryTargets(lines).compactMap(resolve)
        return Array(all.filter { $0.target.origin == own.origin && $0.target != own }.prefix(countMax))
    }
}
