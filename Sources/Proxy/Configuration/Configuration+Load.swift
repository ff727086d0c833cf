internal import Foundation
internal import Glibc
internal import HTTP

extension Configuration {
    /// Reads a configuration file, with `${NAME}` from `environment`; throws all errors at once.
    ///
    /// With `looksAround` it also checks what a start needs: the key file, the upstreams' names and the folder of
    /// the store. That blocks.
    package static func load(
        file: String, environment: [String: String], looksAround: Bool = false
    ) throws(ConfigurationError) -> Configuration {
        // Safe: the path is a string of Swift, which lives as long as the call.
        let descriptor = unsafe open(file, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            let why = SystemError(code: errno).text
            throw ConfigurationError("the file cannot be opened (\(why)): expected a readable file")
        }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        let data: Data
        do {
            data = try handle.read(upToCount: ConfigurationText.sizeMax + 1) ?? Data()
        } catch {
            throw ConfigurationError("the file cannot be read: expected a readable file")
        }
        return try parse([UInt8](data), environment: environment, looksAround: looksAround)
    }

    /// Parses the bytes of a configuration file; throws all errors at once.
    package static func parse(
        _ bytes: [UInt8], environment: [String: String] = [:], looksAround: Bool = false
    ) throws(ConfigurationError) -> Configuration {
        // Some editors put a byte order mark in front.
        let content = bytes.dropFirst(bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0)
        guard let text = String(validating: content, as: UTF8.self) else {
            throw ConfigurationError("the file is not text: expected UTF-8")
        }
        var document = ConfigurationText()
        var reader = SettingsReader(environment: environment)
        var configuration = Configuration()
        if let root = document.parse(text) {
            reader.read(root, by: Settings.all, into: &configuration)
            configuration.checkUpstreamNames(&reader, root: root)
            configuration.checkUpstreamTLS(&reader)
            configuration.checkAddresses(&reader)
            configuration.checkMemory(&reader)
            configuration.checkOwnFields(&reader)
            configuration.readAdminToken(&reader)
            if looksAround { configuration.checkSurroundings(&reader) }
        }
        let problems = document.problems + reader.problems
        guard problems.isEmpty else { throw ConfigurationError(problems) }
        configuration.findWarnings(reader)
        return configuration
    }

    /// Returns the configuration of `dictum serve --upstream`: one implied route, and otherwise the defaults.
    ///
    /// The line of an error stands for the option: 1 `upstream`, 2 `listen`, 3 `store`.
    package static func implied(
        upstream: String, listen: String? = nil, store: String? = nil
    ) throws(ConfigurationError) -> Configuration {
        var reader = SettingsReader(environment: [:])
        var configuration = Configuration()
        func read<Value>(_ text: String?, _ line: Int, _ option: String, _ type: SettingType<Value>) -> Value?
        {
            guard let text else { return nil }
            let position = ConfigurationNode.Position(line: line, column: 1)
            let node = ConfigurationNode(position: position, content: .scalar(text), textColumn: nil)
            return reader.descend(option) { type.read(node, &$0) }
        }
        if let url = read(upstream, 1, "--upstream", .upstreamURL) { configuration.upstream.urls = [url] }
        if let address = read(listen, 2, "--listen", .listenAddress) {
            configuration.listeners = [Listener(address: address)]
        }
        if let path = read(store, 3, "--store", .path) { configuration.store.path = path }
        guard reader.problems.isEmpty else { throw ConfigurationError(reader.problems) }
        return configuration
    }
}

extension ConfigurationError {
    /// Makes one error about the whole file.
    fileprivate init(_ text: String) {
        self.init([Problem(line: 1, column: 1, text: text)])
    }
}

package struct ConfigurationError: Error, Sendable, Equatable {
    /// An error or a warning, with its position.
    package struct Problem: Sendable, Equatable, Encodable {
        /// The line, from 1.
        package let line: Int
        /// The column in characters, from 1.
        package let column: Int
        /// The error and the expected value on one line.
        package let text: String

        /// Makes a problem; its text is put on one line, since it may quote the file.
        package init(line: Int, column: Int, text: String) {
            self.line = line
            self.column = column
            self.text = text.shortened(to: .max)
        }
    }

    /// The errors, sorted by position; at least one.
    package let problems: [Problem]

    init(_ problems: [Problem]) {
        self.problems = problems.sorted { ($0.line, $0.column) < ($1.line, $1.column) }
    }

    package func lines(file: String) -> [String] {
        problems.map { "\(file):\($0.line):\($0.column): \($0.text)" }
    }
}
