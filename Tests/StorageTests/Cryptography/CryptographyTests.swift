import Testing

@testable import Dictionaries
@testable import Storage

private func bytes(_ hex: String) -> [UInt8] {
    stride(from: 0, to: hex.count, by: 2).map { offset in
        let start = hex.index(hex.startIndex, offsetBy: offset)
        return UInt8(hex[start..<hex.index(start, offsetBy: 2)], radix: 16) ?? 0
    }
}

@Suite struct CryptographyTests {
    @Test(arguments: [
        // RFC 4231 sections 4.2, 4.3 and 4.7, the last with a key longer than a block.
        (
            [UInt8](repeating: 0x0b, count: 20), "Hi There",
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        ),
        (
            Array("Jefe".utf8), "what do ya want for nothing?",
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        ),
        (
            [UInt8](repeating: 0xaa, count: 131), "Test Using Larger Than Block-Size Key - Hash Key First",
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        ),
    ])
    func `codes are those of RFC 4231`(key: [UInt8], message: String, code: String) {
        let authenticator = MessageAuthenticator(key: key)
        #expect(authenticator.code(of: Array(message.utf8)) == bytes(code))
        #expect(authenticator.code(of: Array(message.utf8)) == bytes(code), "and again")
    }

    @Test func `a derived key is the first block of HKDF-Expand, of RFC 5869's first test`() {
        let root = MessageAuthenticator(
            key: bytes("077709362c2e32df0ddc3f0dc47bba6390b6c73bb50f9c3122ec844ad7c2b3e5"))
        // The info of the test is not text; the step of HKDF-Expand is HMAC(key, info | 1).
        let info = bytes("f0f1f2f3f4f5f6f7f8f9")
        #expect(
            root.code(of: info + [1])
                == bytes("3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf"))
        #expect(root.derivedKey("a") == root.code(of: [UInt8(ascii: "a"), 1]))
    }

    private let key = bytes("feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308")
    private let associated = bytes("feedfacedeadbeeffeedfacedeadbeefabaddad2")
    private let plain = bytes(
        "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
            + "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39")

    @Test func `what is opened is AES-256-GCM, test case 16 of its specification`() {
        let sealed =
            bytes("cafebabefacedbaddecaf888")
            + bytes(
                "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
                    + "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662")
            + bytes("76fc6ece0f4e1768cddf8853bb2d551b")
        #expect(SealedBytes.open(sealed, key: key, associated: associated) == plain)
    }

    @Test func `what is sealed opens, and is never the same twice`() throws {
        for message in [[], [7], plain, [UInt8](repeating: 1, count: 100_000)] {
            let sealed = try SealedBytes.seal(message, key: key, associated: associated)
            #expect(sealed.count == message.count + SealedBytes.overheadBytes)
            #expect(SealedBytes.open(sealed, key: key, associated: associated) == message)
            #expect(try SealedBytes.seal(message, key: key, associated: associated) != sealed)
        }
    }

    @Test func `any other bit, key or place leaves it closed`() throws {
        let sealed = try SealedBytes.seal(plain, key: key, associated: associated)
        for index in sealed.indices {
            var changed = sealed
            changed[index] ^= 1
            #expect(SealedBytes.open(changed, key: key, associated: associated) == nil, "byte \(index)")
        }
        #expect(SealedBytes.open(sealed, key: key, associated: associated + [0]) == nil)
        #expect(SealedBytes.open(sealed, key: key, associated: []) == nil)
        #expect(SealedBytes.open(sealed, key: key.reversed(), associated: associated) == nil)
        #expect(SealedBytes.open(Array(sealed.dropLast()), key: key, associated: associated) == nil)
        #expect(SealedBytes.open(Array(sealed.prefix(27)), key: key, associated: associated) == nil)
        #expect(SealedBytes.open([], key: key, associated: associated) == nil)
    }

    @Test func `parts that are cut elsewhere make other bytes`() {
        var one = LengthPrefixed("l")
        one.append("ab")
        one.append("c")
        var other = LengthPrefixed("l")
        other.append("a")
        other.append("bc")
        #expect(one.bytes != other.bytes)
        #expect(LengthPrefixed.parts(of: one.bytes) == [Array("l".utf8), Array("ab".utf8), Array("c".utf8)])
        #expect(LengthPrefixed.parts(of: Array(one.bytes.dropLast())) == nil)
        #expect(LengthPrefixed.parts(of: [UInt8](repeating: 255, count: 9)) == nil)
        #expect(LengthPrefixed.parts(of: one.bytes + [0, 0]) == nil, "too few for a length")
    }
}
