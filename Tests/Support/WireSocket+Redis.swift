extension WireSocket {
    /// The next command of a client of Redis, as text; nil at the end.
    package func receiveCommand() -> [String]? {
        guard let count = receiveNumber("*") else { return nil }
        var words: [String] = []
        for _ in 0..<count {
            guard let length = receiveNumber("$"), let word = receiveExactly(length + 2) else { return nil }
            words.append(String(decoding: word.dropLast(2), as: UTF8.self))
        }
        return words
    }

    private func receiveNumber(_ mark: Character) -> Int? {
        var line = ""
        while line.unicodeScalars.last != "\n" {
            guard let byte = receiveExactly(1) else { return nil }
            // By scalar: CR LF is one character.
            line.unicodeScalars.append(Unicode.Scalar(byte[0]))
        }
        guard line.first == mark else { return nil }
        return Int(line.unicodeScalars.dropFirst().prefix { $0 != "\r" }.map(String.init).joined())
    }
}
