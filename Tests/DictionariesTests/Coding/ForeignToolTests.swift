internal import Dictionaries
internal import TestSupport
internal import Testing

/// Dictum's output, decoded by the codings' own tools; needs gzip, brotli >= 1.1, zstd and python3-zstandard.
@Suite struct ForeignToolTests {
    @Test(arguments: [ContentCoding.gzip, .br, .zstd], Corpus.all)
    func `the coding's own tool decodes it`(coding: ContentCoding, corpus: Corpus) throws {
        let coded = try corpus.encoded(coding)
        let (program, arguments) =
            switch coding {
            case .gzip: ("gzip", ["-dc"])
            case .br: ("brotli", ["-dc"])
            // RFC 9659 section 3.
            default: ("zstd", ["-dcq", "--memory=8MB"])
            }
        #expect(try ForeignTool.run(program, arguments, input: coded) == corpus.body)
    }

    @Test(arguments: Corpus.all)
    func `the brotli tool decodes dcb after its header`(corpus: Corpus) throws {
        let stream = Array(try corpus.encoded(.dcb).dropFirst(36))
        let decoded = try ForeignTool.run(
            "brotli", ["-dc", "-D", "dictionary"], input: stream,
            files: ["dictionary": corpus.dictionary.bytes])
        #expect(decoded == corpus.body)
    }

    // The header is a skippable frame, so that the tool accepts dcz whole.
    @Test(arguments: Corpus.all, [Effort.live, .kept])
    func `the zstd tool decodes dcz with its header`(corpus: Corpus, effort: Effort) throws {
        guard !DictionaryFit.prefersDcb(dictionary: corpus.dictionary) else { return }
        if effort == .kept && corpus.body.count > 1 << 20 { return }
        let decoded = try ForeignTool.run(
            "zstd", ["-dcq", "--long=23", "-D", "dictionary"], input: corpus.encoded(.dcz, effort: effort),
            files: ["dictionary": corpus.dictionary.bytes])
        #expect(decoded == corpus.body)
    }

    // The zstd tool takes such a dictionary for a formatted one; Python reads it as raw content, as browsers do.
    @Test func `a dictionary that looks formatted is raw content all the same`() throws {
        let program = """
            import sys, zstandard
            raw = zstandard.ZstdCompressionDict(open("dictionary", "rb").read(), zstandard.DICT_TYPE_RAWCONTENT)
            frame = sys.stdin.buffer.read()[40:]
            decoder = zstandard.ZstdDecompressor(dict_data=raw, max_window_size=8 << 20)
            sys.stdout.buffer.write(decoder.decompressobj().decompress(frame))
            """
        let corpus = Corpus.magicDictionary
        let prepared = try PreparedDictionary(corpus.dictionary, for: .dcz)
        for use in [DictionaryUse.reference(corpus.dictionary), .prepared(prepared)] {
            let coded = try Codec.encode(corpus.body.span, .dcz, options: EncoderOptions(dictionary: use))
            let decoded = try ForeignTool.run(
                "/usr/bin/python3", ["-c", program], input: coded,
                files: ["dictionary": corpus.dictionary.bytes])
            #expect(decoded == corpus.body)
        }
    }

    @Test(arguments: [Corpus.smallFeed, .largeFeed])
    func `a delta is at most 5 % larger than the library's own`(corpus: Corpus) throws {
        let files = ["dictionary": corpus.dictionary.bytes]
        let zstd = try ForeignTool.run(
            "zstd", ["-3", "-cq", "-D", "dictionary"], input: corpus.body, files: files)
        let window = DictionaryFit.brotliWindow(
            bodyBytes: corpus.body.count, dictionaryBytes: corpus.dictionary.count)
        let brotli = try ForeignTool.run(
            "brotli", ["-q", "5", "-w", String(window), "-c", "-D", "dictionary"], input: corpus.body,
            files: files)
        let prepared = [
            ContentCoding.dcz: DictionaryUse.prepared(try PreparedDictionary(corpus.dictionary, for: .dcz)),
            .dcb: .prepared(try PreparedDictionary(corpus.dictionary, for: .dcb)),
        ]
        for (coding, reference, header) in [(ContentCoding.dcz, zstd, 40 + 4), (.dcb, brotli, 36)] {
            let most = Double(reference.count) * 1.05 + Double(header)
            #expect(Double(try corpus.encoded(coding).count) <= most)
            let coded = try Codec.encode(
                corpus.body.span, coding, options: EncoderOptions(dictionary: prepared[coding]))
            #expect(Double(coded.count) <= most)
        }
    }
}
