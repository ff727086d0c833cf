internal import ArgumentParser
internal import Proxy

/// `dictum reference`: prints `config/reference.yaml`.
struct ReferenceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reference", abstract: "Prints every setting with its default.")

    func run() throws {
        print(ConfigurationReference.text, terminator: "")
    }
}
