internal import Dictionaries

extension Configuration {
    /// Checks the key file of the store, if one is needed; a missing one is created at the start.
    mutating func checkKeyFile(_ reader: inout SettingsReader) {
        guard needsKeys, let file = store.keyFileInUse else { return }
        let node = ["store.key_file", "store.path", "store"].compactMap { reader.node(of: $0) }.first
        let position = node?.position ?? .init(line: 1, column: 1)
        do throws(StoreError) {
            try StoreKeyFile.check(at: file) { warn($0, at: position) }
        } catch {
            reader.report("store.key_file: \(error)", at: position)
        }
    }
}
