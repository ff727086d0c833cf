internal import ArgumentParser
internal import Proxy

/// `dictum reference`: prints `config/reference.yaml`; for those who change a setting.
struct ReferenceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reference", abstract: "Prints every setting with its default.", shouldDisplay: false)

    func run() throws {
        print(ConfigurationReference.text, terminator: "")
    }
}
