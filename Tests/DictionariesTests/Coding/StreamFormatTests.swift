internal import Dictionaries
internal import TestSupport
internal import Testing

/// The bytes on the wire: headers, frames, members.
@Suite struct StreamFormatTests {
    private let corpus = Corpus.smallFeed

    @Test func `dcb begins with its magic number and the digest of the dictionary`() throws {
        let coded = try corpus.encoded(.dcb)
        #expect(coded.prefix(4) == [0xff, 0x44, 0x43, 0x42])
        #expect(Array(coded[4..<36]) == corpus.dictionary.digest.bytes)
    }

    @Test func `dcz begins with a skippable frame that holds the digest of the dictionary`() throws {
        let coded = try corpus.encoded(.dcz)
        #expect(coded.prefix(8) == [0x5e, 0x2a, 0x4d, 0x18, 0x20, 0x00, 0x00, 0x00])
        #expect(Array(coded[8..<40]) == corpus.dictionary.digest.bytes)
        // RFC 8878 section 3.1.1: the magic number of a frame.
        #expect(coded[40..<44] == [0x28, 0xb5, 0x2f, 0xfd])
    }

    @Test(arguments: [ContentCoding.dcb, .dcz])
    func `the header comes with the first flush and only once`(coding: ContentCoding) throws {
        let encoder = try Codec.encoder(for: coding, options: corpus.options(coding))
        let first = try encoder.encode([], .flush)
        #expect(first.count >= (coding == .dcb ? 36 : 40))
        let rest = try encoder.encode(corpus.body, .end)
        #expect(try corpus.decoded(first + rest, coding) == corpus.body)
    }

    @Test(arguments: [ContentCoding.dcb, .dcz])
    func `another magic number or another dictionary is refused`(coding: ContentCoding) throws {
        let coded = try corpus.encoded(coding)
        for index in 0..<(coding == .dcb ? 36 : 40) {
            var changed = coded
            changed[index] ^= 1
            let error = #expect(throws: CodingError.self) { try corpus.decoded(changed, coding) }
            #expect(error?.stage == .header)
            let isMagic = index < (coding == .dcb ? 4 : 8)
            #expect(error?.message == (isMagic ? "invalid magic number" : "the digest of another dictionary"))
        }
        let error = #expect(throws: CodingError.self) {
            try Codec.decode(coded.span, coding, dictionary: Body([1, 2, 3]), limits: roomyLimits)
        }
        #expect(error?.stage == .header)
    }

    @Test(arguments: [ContentCoding.dcb, .dcz])
    func `a decoder that has failed decodes nothing more`(coding: ContentCoding) throws {
        let coded = try corpus.encoded(coding)
        let decoder = try Codec.decoder(for: coding, dictionary: corpus.dictionary, limits: roomyLimits)
        for bytes in [[0], coded] {
            #expect(throws: CodingError.self) { try decoder.decode(bytes) }
        }
        #expect(throws: CodingError.self) { try decoder.finish() }
    }

    @Test(arguments: [ContentCoding.dcb, .dcz])
    func `the header names the coding and the dictionary`(coding: ContentCoding) throws {
        let coded = try corpus.encoded(coding)
        let header = try #require(DictionaryHeader.read(coded))
        #expect(header.coding == coding && header.digest == corpus.dictionary.digest)
        let bytes = coding == .dcb ? 36 : DictionaryHeader.dczBytes
        #expect(DictionaryHeader.read(Array(coded.prefix(bytes)))?.coding == coding)
        #expect(DictionaryHeader.read(Array(coded.prefix(bytes - 1)))?.coding == nil)
    }

    @Test(arguments: [ContentCoding.dcb, .dcz])
    func `the right digest with the wrong bytes does not give the body`(coding: ContentCoding) throws {
        let coded = try corpus.encoded(coding)
        let wrong = Body(corpus.dictionary.bytes.map { $0 ^ 1 }, digest: corpus.dictionary.digest)
        let decoded = try? Codec.decode(coded.span, coding, dictionary: wrong, limits: roomyLimits)
        #expect(decoded != corpus.body)
        // Brotli has no checksum, so its client gets other bytes. With dcz the client notices.
        if coding == .dcz { #expect(decoded == nil) }
    }

    @Test(arguments: [ContentCoding.zstd, .dcz], Corpus.all)
    func `a Zstandard frame has a checksum, no dictionary identifier and a window of at most 8 MiB`(
        coding: ContentCoding, corpus: Corpus
    ) throws {
        for bodyBytes in [corpus.body.count, nil] {
            let encoder = try Codec.encoder(
                for: coding, options: corpus.options(coding, bodyBytes: bodyBytes))
            // Not ended in one call, since the library would then know the length.
            let coded = try encoder.encode(corpus.body, .more) + encoder.encode([], .end)
            let frame = FrameHeader(coded.dropFirst(coding == .dcz ? 40 : 0))
            #expect(frame.hasChecksum)
            #expect(frame.dictionaryIdentifierBytes == 0)
            // A frame over 8 MiB that is a single segment fails in Chromium.
            if frame.isSingleSegment {
                #expect(corpus.body.count <= 8 << 20)
            } else {
                #expect(frame.windowLog <= 23)
            }
        }
    }

    @Test func `several gzip members are one body`() throws {
        let first = try Codec.encode([1, 2, 3].span, .gzip)
        let second = try Codec.encode([4, 5].span, .gzip)
        let both = first + second
        #expect(try Codec.decode(both.span, .gzip, limits: roomyLimits) == [1, 2, 3, 4, 5])
        let decoder = try Codec.decoder(for: .gzip, limits: roomyLimits)
        var decoded: [UInt8] = []
        for byte in both { decoded += try decoder.decode([byte]) }
        try decoder.finish()
        #expect(decoded == [1, 2, 3, 4, 5])
    }

    @Test func `several Zstandard frames are one body`() throws {
        let both = try Codec.encode([1, 2, 3].span, .zstd) + Codec.encode([4, 5].span, .zstd)
        #expect(try Codec.decode(both.span, .zstd, limits: roomyLimits) == [1, 2, 3, 4, 5])
    }

    @Test func `a packed body comes back with its length only`() throws {
        let body = Body(corpus.body)
        for dictionary in [nil, corpus.dictionary] {
            let prepared = try dictionary.map { try PreparedDictionary($0, for: .dcz) }
            let frame = try ZstdFrames.pack(body, over: prepared)
            #expect(try ZstdFrames.unpack(frame, count: body.count, over: dictionary) == body.bytes)
            for count in [body.count - 1, body.count + 1] {
                #expect(throws: CodingError.self) {
                    try ZstdFrames.unpack(frame, count: count, over: dictionary)
                }
            }
        }
    }

    @Test func `a second brotli stream is refused`() throws {
        let both = try Codec.encode([1, 2, 3].span, .br) + Codec.encode([4, 5].span, .br)
        #expect(throws: CodingError.self) { try Codec.decode(both.span, .br, limits: roomyLimits) }
    }

    // The frame header alone, with a window of 16 MiB: descriptor 0, exponent 14, mantissa 0.
    @Test func `a Zstandard window over 8 MiB is refused`() {
        let frame: [UInt8] = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 14 << 3, 0x01, 0x00, 0x00]
        #expect(throws: CodingError.self) { try Codec.decode(frame.span, .zstd, limits: roomyLimits) }
        var allowed = frame
        allowed[5] = 13 << 3
        #expect(throws: Never.self) { try Codec.decode(allowed.span, .zstd, limits: roomyLimits) }
    }

    // RFC 9842 section 5. Exponent 14 is 16 MiB, and each step of the mantissa adds an eighth of that.
    @Test(arguments: [(2, true), (3, false)] as [(UInt8, Bool)])
    func `a window may be a quarter longer than a large dictionary`(mantissa: UInt8, isAllowed: Bool) {
        let dictionary = Body([UInt8](repeating: 0x20, count: 16 << 20))
        let magic: [UInt8] = [0x5e, 0x2a, 0x4d, 0x18, 0x20, 0x00, 0x00, 0x00]
        let frame: [UInt8] = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 14 << 3 | mantissa, 0x01, 0x00, 0x00]
        let coded = magic + dictionary.digest.bytes + frame
        let body = try? Codec.decode(coded.span, .dcz, dictionary: dictionary, limits: roomyLimits)
        #expect((body != nil) == isAllowed)
    }

    // RFC 9842 section 4 allows the windows of RFC 7932 only; 0x11 begins the large-window format.
    @Test func `a large-window brotli stream is refused`() {
        let stream: [UInt8] = [0x11, 0x1e, 0x03]
        #expect(throws: CodingError.self) { try Codec.decode(stream.span, .br, limits: roomyLimits) }
    }
}

/// The parts of a Zstandard frame header (RFC 8878 section 3.1.1.1) that the tests read.
private struct FrameHeader {
    let hasChecksum: Bool
    let isSingleSegment: Bool
    let dictionaryIdentifierBytes: Int
    let windowLog: Int

    init(_ frame: ArraySlice<UInt8>) {
        let descriptor = frame[frame.startIndex + 4]
        hasChecksum = descriptor & 4 != 0
        isSingleSegment = descriptor & 0x20 != 0
        dictionaryIdentifierBytes = [0, 1, 2, 4][Int(descriptor & 3)]
        windowLog = 10 + Int(frame[frame.startIndex + 5] >> 3)
    }
}
