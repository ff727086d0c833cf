internal import Foundation
internal import TestSupport
internal import Testing

/// Judges answers and stores with programs that are not ours: Python's hashlib, zlib, sqlite3 and zstandard, and `brotli`.
struct ForeignJudge {
    /// An answer as it came, and what it must be.
    struct Answer {
        /// What a failure calls it.
        let name: String
        /// Its Content-Encoding, or `identity`.
        let coding: String
        /// What the client held; empty if nothing.
        let dictionary: [UInt8]
        /// The body as it was on the wire.
        let wire: [UInt8]
        /// The body that it stands for.
        let body: [UInt8]
    }

    private let folder: TemporaryFolder

    /// A judge with a folder of its own for what it judges.
    init() throws { folder = try TemporaryFolder() }

    /// What is wrong with answers, a line each: none if all decode to exactly their bodies.
    func faults(of answers: [Answer]) throws -> [String] {
        let bytes = answers.flatMap { answer in
            let (name, coding) = (Array(answer.name.utf8), Array(answer.coding.utf8))
            return [name, coding, answer.dictionary, answer.wire, answer.body].flatMap(Self.lengthAndBytes)
        }
        try folder.write(bytes, to: "answers")
        return try run("answers", expecting: answers.count)
    }

    /// What is wrong with the file of a store and its log, a line each; judged on a copy, so that they stay as they are.
    func faults(ofStore path: String) throws -> [String] {
        for ending in ["", "-wal"] {
            try? FileManager.default.removeItem(atPath: "\(folder.path)/store\(ending)")
            if FileManager.default.fileExists(atPath: path + ending) {
                try FileManager.default.copyItem(
                    atPath: path + ending, toPath: "\(folder.path)/store\(ending)")
            }
        }
        return try run("store", expecting: nil)
    }

    /// A part behind its length, in four bytes with the least first.
    private static func lengthAndBytes(_ part: [UInt8]) -> [UInt8] {
        [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: part.count >> $0) } + part
    }

    private func run(_ mode: String, expecting count: Int?) throws -> [String] {
        let result = try RunningProcess.run(
            ["-c", Self.script, mode, "\(folder.path)/\(mode)"], of: "/usr/bin/python3")
        var lines = result.text.split(separator: "\n").map { String($0) }
        let last = lines.popLast() ?? ""
        // A judge that saw nothing has not judged.
        let seen = last.wholeMatch(of: /judged ([0-9]+)/).flatMap { Int($0.output.1) }
        try #require(result.status == 0 && seen != nil && (count == nil || seen == count), "\(result.errors)")
        return lines
    }

    private static let script = #"""
        import hashlib, sqlite3, struct, subprocess, sys, tempfile, zlib, zstandard

        # RFC 9842 sections 4 and 5: what stands before the digest of the dictionary, and both before the stream.
        MAGIC = {"dcz": bytes.fromhex("5e2a4d1820000000"), "dcb": bytes.fromhex("ff444342")}

        def zstd(stream, dictionary=None):
            kind = zstandard.DICT_TYPE_RAWCONTENT
            options = {"dict_data": zstandard.ZstdCompressionDict(dictionary, dict_type=kind)} if dictionary else {}
            return zstandard.ZstdDecompressor(max_window_size=1 << 27, **options).decompressobj().decompress(stream)

        def brotli(stream, dictionary=None):
            with tempfile.NamedTemporaryFile() as file:
                file.write(dictionary or b"")
                file.flush()
                options = ["-D", file.name] if dictionary else []
                return subprocess.run(["brotli", "-dc", *options], input=stream, capture_output=True, check=True).stdout

        def decoded(coding, dictionary, wire):
            if coding in MAGIC:
                header = MAGIC[coding] + hashlib.sha256(dictionary).digest()
                if not wire.startswith(header):
                    raise ValueError("another header")
                return {"dcz": zstd, "dcb": brotli}[coding](wire[len(header):], dictionary)
            plain = {"identity": bytes, "zstd": zstd, "br": brotli, "gzip": lambda stream: zlib.decompress(stream, 31)}
            return plain[coding](wire)

        def answers(path):
            data, place = open(path, "rb").read(), 0
            def part():
                nonlocal place
                size, = struct.unpack_from("<I", data, place)
                place += 4 + size
                return data[place - size:place]
            count = 0
            while place < len(data):
                name, coding, dictionary, wire, body = (part() for _ in range(5))
                count += 1
                try:
                    if decoded(coding.decode(), dictionary, wire) != body:
                        raise ValueError("another body")
                except Exception as error:
                    print(f"{name.decode()} as {coding.decode()}: {error}")
            return count

        def store(path):
            database = sqlite3.connect(path)
            found, = database.execute("PRAGMA integrity_check").fetchone()
            if found != "ok":
                print(found)
            count = 0
            bodies = """SELECT digest, one.bytes, one.size, base.bytes, base.size FROM version
                LEFT JOIN body AS one ON one.id = version.body LEFT JOIN body AS base ON base.id = one.base"""
            def whole(stored, size, base=None):
                return stored if size is None else zstd(stored, base)
            for digest, body, size, base, base_size in database.execute(bodies):
                count += 1
                try:
                    if body is None:
                        raise ValueError("is not there")
                    base = None if base is None else whole(base, base_size)
                    if hashlib.sha256(whole(body, size, base)).digest() != digest:
                        raise ValueError("does not match its digest")
                except Exception as error:
                    print(f"body {digest.hex()}: {error}")
            for body, in database.execute("""SELECT id FROM body WHERE id NOT IN (SELECT body FROM version)
                    AND id NOT IN (SELECT base FROM body WHERE base IS NOT NULL)"""):
                print(f"body {body} is of no version, and none leans on it")
            return count

        print("judged", {"answers": answers, "store": store}[sys.argv[1]](sys.argv[2]))
        """#
}
