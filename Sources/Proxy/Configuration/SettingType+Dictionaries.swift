internal import Dictionaries

extension SettingType where Value == [ContentCoding] {
    /// The codings in order of preference, each once.
    static let codings = {
        let words: KeyValuePairs<String, ContentCoding> = [
            "dcz": .dcz, "dcb": .dcb, "zstd": .zstd, "br": .br, "gzip": .gzip,
        ]
        let list = SettingType.list(SettingType<ContentCoding>.choice(words), 0...words.count)
        return SettingType(
            expectation: list.expectation,
            read: { node, reader in
                guard let codings = list.read(node, &reader) else { return nil }
                guard Set(codings).count == codings.count else {
                    reader.reportUnexpected(
                        node, expected: "each coding once", because: "a coding is named twice")
                    return nil
                }
                return codings
            }, write: list.write)
    }()
}
