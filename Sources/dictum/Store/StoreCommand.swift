internal import ArgumentParser

/// `dictum store`: inspects and prunes a store, also while a proxy uses it.
struct StoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store", abstract: "Looks into a store and removes from it, also while the proxy runs.",
        discussion: """
            The chains of private routes are counted, never listed. What is removed is out of use in a running proxy \
            within a second.
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
