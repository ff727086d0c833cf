internal import ArgumentParser
internal import Foundation
internal import Glibc
internal import HTTP
internal import Proxy
internal import Storage

struct ServeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Runs the proxy in the foreground.",
        usage: """
            dictum serve --config FILE
            dictum serve --upstream URL [--listen ADDRESS] [--store PATH]
            """)

    @Option(help: "The configuration file.")
    var config: String?

    @Option(
        help: "Without a configuration: the API behind the proxy, such as http://127.0.0.1:9000.")
    var upstream: String?

    @Option(help: "With --upstream: the address to listen at (default: 127.0.0.1:8080)")
    var listen: String?

    @Option(help: "With --upstream: the file of the store (default: ./dictum.sqlite)")
    var store: String?

    func validate() throws {
        guard (config == nil) != (upstream == nil) else {
            throw ValidationError("expected either --config FILE or --upstream URL")
        }
        guard config == nil || listen == nil && store == nil else {
            throw ValidationError("--listen and --store need --upstream; with --config, the file sets both")
        }
    }

    func run() throws {
        // Without a file there is nothing to read again, so SIGHUP is an end, unless nohup has it ignored.
        Signals.block(reloads: config != nil || !Signals.isIgnored(SIGHUP), serves: true)
        Successor.prepare()
        DescriptorLimit.raise()
        AllocatorLimits.set()
        guard Service(proxy: try start(), config: config).run() else { throw ExitCode.failure }
    }

    /// Returns the proxy once it accepts; inherited sockets that it does not use are closed by then.
    private func start() throws -> ProxyService {
        do {
            // This comes first: no other thread may read the environment yet, and no file may be opened at these
            // numbers.
            let inheritance = try InheritanceInUse()
            let configuration = try readConfiguration()
            let service = try start(configuration, inheritance.sockets)
            if let config { service.warn(of: configuration, file: config) }
            inheritance.tellReady()
            return service
        } catch let error as StartError {
            StandardError.write(
                "dictum: \(config == nil ? error.textForOptions : error.description)", as: .error)
            throw ExitCode.failure
        }
    }

    /// Starts the proxy; with `--upstream`, gives up the admin listener if its default address is taken.
    private func start(
        _ configuration: Configuration, _ inherited: InheritedSockets
    ) throws(StartError) -> ProxyService {
        do throws(StartError) {
            return try ProxyService(configuration, inherited: inherited)
        } catch {
            guard config == nil, case .cannotListen(let address, _) = error,
                address == configuration.admin?.address.description
            else { throw error }
            var withoutAdmin = configuration
            withoutAdmin.admin = nil
            let service = try ProxyService(withoutAdmin, inherited: inherited)
            service.log.warning(
                "\(address) is in use, so there is no /metrics; with --config, set `admin` to another address"
            )
            return service
        }
    }

    private func readConfiguration() throws -> Configuration {
        do throws(ConfigurationError) {
            if let config {
                return try Configuration.load(file: config, environment: ProcessInfo.processInfo.environment)
            }
            return try Configuration.implied(upstream: upstream ?? "", listen: listen, store: store)
        } catch {
            // Errors in options have no position in a file.
            let lines = config.map(error.lines) ?? error.problems.map { "dictum: \($0.text)" }
            for line in lines { StandardError.write(line, as: .error) }
            throw config == nil ? ExitCode.validationFailure : ExitCode.invalidConfiguration
        }
    }
}
