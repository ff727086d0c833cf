internal import ArgumentParser
internal import Dictionaries

/// A digest as it is given on the command line: the beginning of its hexadecimal form, or all of it in base64.
struct DigestArgument {
    let text: String
    private let prefix: String

    /// The fewest hexadecimal digits that may stand for a digest.
    static let digitsMin = 4

    /// What the commands say of it.
    static let help: ArgumentHelp =
        "The digest: its first hexadecimal digits, four at least, or all of it in base64, with or without colons."

    /// Reads it as it is given.
    init(argument: String) throws {
        text = argument
        // As Available-Dictionary and Dictum-Explain have it, between colons, and as a Link's URL has it.
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
                "expected the first hexadecimal digits of a digest, \(Self.digitsMin) at least, or all of it in base64"
            )
        }
    }

    /// Whether a digest is meant, perhaps as one of several.
    func names(_ digest: Digest) -> Bool { digest.hex.hasPrefix(prefix) }
}
