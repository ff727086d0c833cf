internal import ArgumentParser
internal import Dictionaries
internal import Foundation
internal import Proxy

/// The options that select a store.
struct StoreOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The configuration file that names the store.", valueName: "file"))
    var config: String?

    @Option(help: ArgumentHelp("The file of the store, instead of a configuration.", valueName: "path"))
    var store: String?

    func validate() throws {
        guard (config == nil) != (store == nil) else {
            throw ValidationError("expected either --config FILE or --store PATH")
        }
    }

    /// Opens the store while `work` runs; turns every error into one line and an exit code.
    func use(_ work: (OpenedStore) throws -> Void) throws {
        let configuration = try readConfiguration()
        do {
            let catalogue = try StoreCatalogue(path: configuration?.store.path ?? store ?? "")
            defer { catalogue.close() }
            try work(OpenedStore(catalogue: catalogue, configuration: configuration))
        } catch let error as StoreCatalogueError {
            StandardError.write("dictum: \(error)")
            throw ExitCode.failure
        } catch let error as StoreFailure {
            StandardError.write("dictum: \(error.text)")
            throw ExitCode.failure
        }
    }

    private func readConfiguration() throws -> Configuration? {
        guard let config else { return nil }
        do throws(ConfigurationError) {
            return try Configuration.load(file: config, environment: ProcessInfo.processInfo.environment)
        } catch {
            for line in error.lines(file: config) { StandardError.write(line) }
            throw ExitCode.wrongConfiguration
        }
    }
}
