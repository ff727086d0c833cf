internal import ArgumentParser
internal import Dictionaries

/// The options that select chains.
struct ChainOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Only chains with this match, such as /api/feed.", valueName: "match"))
    var chain: String?

    @Option(
        help: ArgumentHelp(
            "Only chains of this host, with its port unless that is the default.", valueName: "authority"))
    var authority: String?

    /// True if a chain is named.
    var isGiven: Bool { chain != nil || authority != nil }

    /// Returns true if the options select the chain.
    func includes(_ key: ChainKey) -> Bool {
        (chain == nil || key.match == chain) && (authority == nil || key.authority == authority?.lowercased())
    }

    /// The selection, for error texts.
    var text: String {
        [chain.map { "the match \($0)" }, authority.map { "the authority \($0)" }].compactMap(\.self)
            .joined(separator: " and ")
    }
}
