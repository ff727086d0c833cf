internal import Dictionaries
internal import Testing

@Suite struct DigestTests {
    // FIPS 180-4 examples.
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
    ])
    func `a digest is the SHA-256 of the bytes`(text: String, hex: String) {
        let bytes = Array(text.utf8)
        #expect(Digest(of: bytes.span).hex == hex)
        #expect(Body(bytes).digest.hex == hex)
        var builder = DigestBuilder()
        for byte in bytes { builder.append([byte].span) }
        #expect(builder.finish().hex == hex)
    }

    @Test(arguments: [0, 31, 33, 64])
    func `bytes of another length are no digest`(count: Int) {
        #expect(Digest(bytes: [UInt8](repeating: 1, count: count)) == nil)
    }

    @Test func `a digest comes back from its bytes and from its base64url`() throws {
        let digest = Digest(of: Array("abc".utf8).span)
        #expect(Digest(bytes: digest.bytes) == digest)
        #expect(Digest(base64URL: digest.base64URL) == digest)
        #expect(digest.base64 == "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=")
        #expect(digest.base64URL == "ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0")
    }

    @Test(arguments: [
        "", "ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa", "ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0=",
        "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0", "ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa1",
        " ngWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0", "ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa00",
    ])
    func `what is not exactly a digest in base64url is refused`(text: String) {
        #expect(Digest(base64URL: text) == nil)
    }

    @Test func `a digest comes back from its digits in lower case, and from no others`() {
        let digest = Digest(of: Array("abc".utf8).span)
        #expect(Digest(hex: digest.hex) == digest)
        for text in [
            "", digest.hex.uppercased(), String(digest.hex.dropLast()), digest.hex + "0",
            "+" + digest.hex.dropFirst(),
        ] {
            #expect(Digest(hex: text) == nil, "\(text)")
        }
    }
}
