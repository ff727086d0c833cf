internal import ArgumentParser
internal import Dictionaries

/// A digest on the command line: the beginning of its hexadecimal form, or its whole base64 form.
struct DigestArgument {
    let text: String
    private let prefix: String

    /// The minimum number of hexadecimal digits.
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

    /// Returns true if the argument stands for the digest; it may stand for several.
    func names(_ digest: Digest) -> Bool { digest.hex.hasPrefix(prefix) }
}
