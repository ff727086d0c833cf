internal import Proxy

/// The rules for configurations: a text is read or every mistake in it is named by its place; nothing traps.
enum ConfigurationRules {
    static func check(_ bytes: [UInt8]) {
        do throws(ConfigurationError) {
            _ = try Configuration.parse(bytes)
        } catch {
            require(!error.problems.isEmpty, "what is refused has a mistake")
        }
    }
}
