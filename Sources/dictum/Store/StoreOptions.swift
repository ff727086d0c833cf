internal import ArgumentParser
internal import Dictionaries
internal import Foundation
internal import Proxy
internal import Storage

struct StoreSource: ParsableArguments {
    @Option(help: ArgumentHelp("The configuration file that names the store.", valueName: "file"))
    var config: String?

    @Option(help: ArgumentHelp("The file of the store, instead of a configuration.", valueName: "path"))
    var store: String?

    /// The text of the error for none of them where one is needed, and for both.
    static let expectation = "expected either --config FILE or --store PATH"

    var isGiven: Bool { config != nil || store != nil }

    func validate() throws {
        guard config == nil || store == nil else { throw ValidationError(Self.expectation) }
    }

    func use(_ work: (OpenedStore) throws -> Void) throws {
        let configuration = try readConfiguration()
        try OpenedStore.use(configuration?.store.path ?? store ?? "", configuration, work)
    }

    func readConfiguration() throws -> Configuration? { try config.map(Self.read) }

    static func read(_ config: String) throws -> Configuration {
        do throws(ConfigurationError) {
            return try Configuration.load(file: config, environment: ProcessInfo.processInfo.environment)
        } catch {
            for line in error.lines(file: config) { StandardError.write(line) }
            throw ExitCode.invalidConfiguration
        }
    }
}

struct StoreOptions: ParsableArguments {
    @OptionGroup var source: StoreSource

    func validate() throws {
        guard source.isGiven else { throw ValidationError(StoreSource.expectation) }
    }
}

/// The options that select a store of one proxy, or one that several share.
struct AnyStoreOptions: ParsableArguments {
    @OptionGroup var own: StoreOptions

    @Flag(help: "Use the store that several proxies share (store.shared); needs --config.")
    var shared = false

    func validate() throws {
        guard !shared || own.source.config != nil else {
            throw ValidationError("--shared needs --config FILE")
        }
    }

    /// Connects to the shared store while `work` runs.
    func useShared(isJSON: Bool, _ work: (SharedStoreActions) throws -> Void) throws {
        guard let configuration = try own.source.readConfiguration() else { return }
        let catalogue = try SharedCatalogue(configuration)
        defer { catalogue.close() }
        try work(SharedStoreActions(catalogue: catalogue, configuration: configuration, isJSON: isJSON))
    }
}

/// A digest on the command line: the beginning of its hexadecimal form, or its whole base64 form.
struct DigestArgument {
    let text: String
    private let prefix: String

    static let digitsMin = 4

    static let help: ArgumentHelp =
        "The digest: its first hexadecimal digits, at least four, or the whole digest in base64, with or without colons."

    init(argument: String) throws {
        text = argument
        // Available-Dictionary and Dictum-Explain put the base64 form between colons; the URL of a Link has the
        // URL-safe form.
        let base64 =
            argument.hasPrefix(":") && argument.hasSuffix(":")
            ? String(argument.dropFirst().dropLast()) : argument
        let unpadded = base64.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        if let digest = Digest(base64URL: unpadded) {
            prefix = digest.hex
            return
        }
        prefix = argument.lowercased()
        guard Self.digitsMin...64 ~= prefix.utf8.count,
            prefix.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
        else {
            throw ValidationError(
                "expected the first hexadecimal digits of a digest, at least \(Self.digitsMin), or the whole digest in base64"
            )
        }
    }

    /// Returns the one digest that the argument stands for; throws if there is none in the store at `place`, or several.
    func choose(among digests: some Sequence<Digest>, in place: String) throws -> Digest {
        let found = Set(digests.filter { $0.hex.hasPrefix(prefix) })
        guard let digest = found.first else {
            throw CommandError(
                "no version in \(place) has the digest \(text); `dictum store list --versions` lists all")
        }
        guard found.count == 1 else {
            throw CommandError(
                "\(text) is ambiguous, since \(found.count) digests begin with it; give more digits: "
                    + found.map(\.hex).sorted().prefix(8).joined(separator: ", ")
                    + (found.count > 8 ? ", …" : ""))
        }
        return digest
    }
}

/// An open store, and its configuration if one was given.
struct OpenedStore {
    let catalogue: StoreCatalogue
    let configuration: Configuration?

    /// Opens the store at a path while `work` runs.
    static func use(
        _ path: String, _ configuration: Configuration?, _ work: (OpenedStore) throws -> Void
    ) throws {
        let catalogue = try StoreCatalogue(path: path)
        defer { catalogue.close() }
        try work(OpenedStore(catalogue: catalogue, configuration: configuration))
    }

    /// Returns true for versions that a configured route would create; nil without a configuration.
    var isCurrent: ((Version) -> Bool)? {
        configuration.map { RouteTable($0).makes }
    }

    func versions(_ conditions: ConditionOptions) throws -> [Version] {
        let purge = try conditions.purge(configuration)
        return try catalogue.versions().filter(purge.includes)
    }

    /// Returns the versions with a digest; throws if there is none, or if the prefix is ambiguous.
    func versions(_ digest: DigestArgument) throws -> [Version] {
        let versions = try catalogue.versions()
        let chosen = try digest.choose(among: versions.lazy.map(\.digest), in: catalogue.path)
        return versions.filter { $0.digest == chosen }
    }
}
