internal import ArgumentParser
internal import Dictionaries
internal import Foundation
internal import Storage

struct DecodeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "decode",
        abstract: "Decodes a saved body, such as a delta that curl wrote or an entry of a HAR file.",
        discussion: """
            A delta (dcz, dcb) names its dictionary by a digest: give the file that has it, or the store of the proxy. The \
            coding is known by the first bytes, but for br. At most 256 MiB are decoded.
            """)

    @Argument(
        help: ArgumentHelp(
            "The saved body, - for standard input, or with --url a HAR file.", valueName: "file"))
    var file: String

    @Option(help: ArgumentHelp("The file with the dictionary.", valueName: "file"))
    var dictionary: String?

    @OptionGroup var store: StoreSource

    @Option(
        help: ArgumentHelp(
            "The coding: gzip, br, zstd, dcz or dcb, instead of what the first bytes say.",
            valueName: "coding"))
    var coding: String?

    @Option(help: ArgumentHelp("Decode the last response of this URL in a HAR file.", valueName: "url"))
    var url: String?

    @Option(
        name: .short, help: ArgumentHelp("The file to write to (default: standard output)", valueName: "file")
    )
    var output: String?

    static let bytesMax = 256 << 20

    func validate() throws {
        guard dictionary == nil || !store.isGiven else {
            throw ValidationError("expected one of --dictionary FILE, --config FILE and --store PATH")
        }
        guard coding == nil || named != nil else {
            throw ValidationError("--coding: expected gzip, br, zstd, dcz or dcb")
        }
    }

    private var named: ContentCoding? {
        coding.flatMap { name in ContentCoding.allCases.first { $0 != .identity && $0.rawValue == name } }
    }

    func run() throws {
        let saved =
            try url.map { try HTTPArchive(file: file).body(ofURL: $0) }
            ?? [UInt8](InputFile.read(file, max: Self.bytesMax))
        let coding = named ?? SavedBody.coding(of: saved)
        guard let coding else {
            // The developer tools of browsers save what they have decoded.
            guard url == nil else { return try OutputFile.write(saved, toFile: output ?? "-") }
            throw CommandError(
                "\(file) begins with no coding that is known by its first bytes: give --coding br, if it is that; otherwise it is not coded"
            )
        }
        let dictionary = try coding.usesDictionary ? namedDictionary(of: saved, coding) : nil
        try OutputFile.write(try decoded(saved, coding, dictionary), toFile: output ?? "-")
    }

    private func decoded(
        _ saved: [UInt8], _ coding: ContentCoding, _ dictionary: Body?
    ) throws(CommandError) -> [UInt8] {
        do throws(CodingError) {
            return try Codec.decode(
                saved.span, coding, dictionary: dictionary,
                limits: DecoderLimits(maxBytes: Self.bytesMax, maxRatio: .max))
        } catch {
            throw CommandError("\(file) is no whole \(coding.rawValue) body: \(error.message)")
        }
    }

    // MARK: The dictionary

    private func namedDictionary(of saved: [UInt8], _ coding: ContentCoding) throws -> Body {
        guard let header = DictionaryHeader.read(saved), header.coding == coding else {
            throw CommandError(
                "\(file) does not begin with the header of a \(coding.rawValue) body (RFC 9842)")
        }
        let digest = header.digest
        let name = "\(digest.hex) (in fields :\(digest.base64):)"
        if let dictionary {
            let body = Body([UInt8](try InputFile.read(dictionary, max: Self.bytesMax)))
            guard body.digest == digest else {
                throw CommandError(
                    "the body was coded over the dictionary \(name); \(dictionary) has the digest \(body.digest.hex). "
                        + "`dictum store export \(digest.hex.prefix(16)) --config FILE -o dictionary` writes it, if the proxy still has it"
                )
            }
            return body
        }
        guard store.isGiven else {
            throw CommandError(
                "the body was coded over the dictionary \(name): give it by --dictionary FILE, or the store that has it by --config or --store"
            )
        }
        return try stored(digest, name)
    }

    private func stored(_ digest: Digest, _ name: String) throws -> Body {
        var found: Body?
        try store.use { opened in
            let versions = try opened.catalogue.versions().filter { $0.digest == digest }
            if case .sound(let body) = try opened.catalogue.body(ofAny: versions) { found = body }
        }
        guard let found else {
            throw CommandError(
                "the store does not have the dictionary \(name): it was removed, or it belongs to one user and is sealed; "
                    + "give it by --dictionary FILE, as the client holds it")
        }
        return found
    }
}

/// The coding of a body by its first bytes.
enum SavedBody {
    static func coding(of bytes: [UInt8]) -> ContentCoding? {
        if let header = DictionaryHeader.read(bytes) { return header.coding }
        if bytes.starts(with: [0x1f, 0x8b]) { return .gzip }
        return bytes.starts(with: [0x28, 0xb5, 0x2f, 0xfd]) ? .zstd : nil
    }
}

extension HTTPArchive {
    /// Returns the body of the last response of a URL that has one, as the file has it.
    fileprivate func body(ofURL url: String) throws(CommandError) -> [UInt8] {
        let entries = log.entries.filter { $0.request.url == url }
        guard !entries.isEmpty else {
            throw CommandError("no entry of the HAR file has the URL \(OutputFormat.plain(url))")
        }
        guard
            let body = entries.compactMap({ $0.response.content.flatMap(Self.bytes) }).last(where: {
                !$0.isEmpty
            })
        else {
            throw CommandError(
                "no entry of \(OutputFormat.plain(url)) has a body: save the file as \"HAR with content\"")
        }
        return body
    }
}
