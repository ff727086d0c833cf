internal import ArgumentParser

struct StoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store", abstract: "Inspects and prunes a store, also while the proxy runs.",
        discussion: """
            Chains of private routes are counted but not listed. A running proxy stops using removed versions within a \
            second.
            """,
        subcommands: [
            StoreListCommand.self,
            StoreShowCommand.self,
            StoreExportCommand.self,
            StoreVerifyCommand.self,
            StorePruneCommand.self,
            StoreRemoveCommand.self,
        ])
}
