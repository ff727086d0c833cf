import Foundation
import Primitives
import Testing

@testable import Dictionaries
@testable import Storage

/// Records of versions in the shared store: whatever a reader finds there, it takes the body of the name or nothing.
@Suite struct SharedRecordTests {
    private let text = Body(Array(String(repeating: #"{"id":17,"state":"open"},"#, count: 400).utf8))

    private func record(
        _ body: Body, chain: ChainKey = feedChain, keys: StoreKeys? = nil
    ) -> (SharedRecord, SharedName) {
        let candidate = VersionCandidate(
            body, key: VersionKey(chain: chain, url: "/feed?page=1", variant: "6:accept=3:*/*;"),
            policy: AdmissionPolicy(versions: 7, maxAge: 900), etag: "a\"b", contentType: "application/json",
            isUpstreamMatch: true)
        let record = SharedRecord(
            chain: chain, facts: candidate.facts(keys), rank: 1_700_000_000_000_001, body: body)
        let digest = record.facts.digest
        return (
            record,
            SharedName(chain: chain, digest: digest, keys: keys) ?? .init(publicChain: chain, digest: digest)
        )
    }

    /// Returns the content of a record's values.
    private func content(_ record: SharedRecord, _ name: SharedName, _ keys: StoreKeys? = nil) throws
        -> [UInt8]
    {
        let values = try #require(record.values(named: name, keys: keys))
        let head = try #require(SharedValue(values[0]))
        #expect(head.parts == values.count)
        #expect(head.isSealed == name.isSealed)
        return try #require(head.content(with: Array(values.dropFirst())))
    }

    @Test(arguments: [0, 1, 255, 256, 10_000, SharedValue.bytesMax - 10, SharedValue.bytesMax, 4_000_000])
    func `a record returns whole, in one part or in several`(count: Int) throws {
        let (record, name) = record(sampleBody(7, count: count))
        let values = try #require(record.values(named: name, keys: nil))
        #expect(values.allSatisfy { $0.count <= SharedValue.bytesMax })
        #expect(values.count == 1 || count > 800_000)
        let read = try #require(SharedRecord(try content(record, name), named: name, keys: nil))
        #expect(read.body.bytes == record.body.bytes)
        #expect(read.facts == record.facts)
        #expect(read.chain == feedChain && read.rank == record.rank)
    }

    @Test func `a text is stored as a Zstandard frame`() throws {
        let (record, name) = record(text)
        let bytes = try content(record, name)
        #expect(bytes.count < text.count / 4)
        #expect(SharedRecord(bytes, named: name, keys: nil)?.body.bytes == text.bytes)
    }

    @Test func `a body that does not pack is stored as it is`() throws {
        let (record, name) = record(sampleBody(7, count: 10_000))
        #expect(try content(record, name).suffix(10_000) == record.body.bytes[...])
    }

    @Test func `a body that is too large is not shared`() {
        let (record, name) = record(Body([UInt8](repeating: 0, count: SharedRecord.bodyBytesMax + 1)))
        #expect(record.values(named: name, keys: nil) == nil)
    }

    @Test func `no changed byte gives another body`() throws {
        let (record, name) = record(Body(Array(text.bytes.prefix(600))))
        let value = try #require(record.values(named: name, keys: nil)?.first)
        for place in value.indices {
            for bit in 0..<8 {
                var changed = value
                changed[place] ^= 1 << UInt8(bit)
                guard let content = SharedValue(changed)?.content(),
                    let read = SharedRecord(content, named: name, keys: nil)
                else { continue }
                #expect(read.body.bytes == record.body.bytes, "byte \(place), bit \(bit)")
                #expect(read.chain == feedChain, "byte \(place), bit \(bit)")
            }
        }
    }

    @Test func `no truncated or lengthened value is taken for another body`() throws {
        let (record, name) = record(Body(Array(text.bytes.prefix(600))))
        let value = try #require(record.values(named: name, keys: nil)?.first)
        for count in 0..<value.count {
            #expect(SharedValue(Array(value.prefix(count)))?.content() == nil, "\(count) bytes")
        }
        #expect(SharedValue(value + [0])?.content() == nil)
        #expect(SharedValue([]) == nil)
    }

    @Test func `a body under the name of another one, or of another chain, is refused`() throws {
        let (record, name) = record(text)
        let other = self.record(sampleBody(1))
        let bytes = try content(record, name)
        #expect(SharedRecord(bytes, named: other.1, keys: nil) == nil)
        let elsewhere = ChainKey(authority: "other.example", match: "/feed")
        #expect(
            SharedRecord(bytes, named: SharedName(publicChain: elsewhere, digest: text.digest), keys: nil)
                == nil)
    }

    @Test func `a frame that claims to be larger than its bound is not unpacked`() throws {
        let (record, name) = record(Body([UInt8](repeating: 7, count: 100_000)))
        let bytes = try content(record, name)
        #expect(SharedRecord(bytes, named: name, keys: nil, bodyBytesMax: 99_999) == nil)
        #expect(SharedRecord(bytes, named: name, keys: nil, bodyBytesMax: 100_000) != nil)
    }

    @Test(arguments: [true, false])
    func `unpacking never yields more than a record states, which is known before`(isPacked: Bool) throws {
        let body =
            isPacked ? Body([UInt8](repeating: 7, count: 100_000)) : sampleBody(7, count: 100_000)
        let (record, name) = record(body)
        var rest = try content(record, name)[...]
        let head = try #require(NumberedFields.takePart(&rest))
        for (stated, isSound) in [(100_000, true), (99_999, false), (100_001, false), (10, false)] {
            var fields = NumberedFields()
            fields.append(SharedRecord.Field.count.rawValue, Int64(stated))
            var bytes: [UInt8] = []
            NumberedFields.append(part: Array(head) + fields.bytes, to: &bytes)
            let packed = try #require(PackedRecord(bytes + rest, named: name, keys: nil))
            #expect(packed.bodyBytes == stated)
            #expect((packed.unpacked() != nil) == isSound, "\(stated) bytes")
        }
    }

    @Test func `a record has the bytes that other releases read`() throws {
        let (record, name) = record(Body(Array("abc".utf8)))
        let value = try #require(record.values(named: name, keys: nil)?.first)
        let count = value.count - 9
        let start: [UInt8] = [0x44, 0x56, 0x31, 0, 1, 0, 0, UInt8(count >> 8), UInt8(count & 255)]
        #expect(Array(value.prefix(9)) == start)
        var rest = value[9...]
        let head = try #require(NumberedFields.takePart(&rest))
        #expect(Array(rest) == Array("abc".utf8))
        let fields = try #require(NumberedFields.read(head))
        let numbers: [UInt8] = [1, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]
        try #require(fields.map { $0.number } == numbers)
        let rank: [UInt8] = [0, 0x06, 0x0a, 0x24, 0x18, 0x1e, 0x40, 0x01]
        #expect(Array(fields[10].value) == rank)
        let bodyBytes: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 3]
        #expect(Array(fields[11].value) == bodyBytes)
    }

    @Test func `the head of a value tells those of newer releases from damage`() {
        for value in ["DV2", "DV9 and more"] { #expect(SharedValue.isNewer(Array(value.utf8)), "\(value)") }
        for value in ["", "DV", "DV1", "DV0", "DVx", "XV2", "garbage"] {
            #expect(!SharedValue.isNewer(Array(value.utf8)), "\(value)")
        }
    }

    @Test(
        arguments: [
            (0, 1, 900_000, true), (1, 16, 14_400_000, true), (2, 1, 900_000, false), (0, 0, 900_000, false),
            (0, 17, 900_000, false), (0, 16, 14_400_001, false),
        ] as [(UInt8, UInt8, UInt32, Bool)])
    func `the head of a value states no more parts and bytes than a value may have`(
        seal: UInt8, parts: UInt8, count: UInt32, isRead: Bool
    ) {
        let head: [UInt8] = [0x44, 0x56, 0x31, seal, parts] + BigEndian.bytes(count)
        #expect((SharedValue(head) != nil) == isRead)
    }

    @Test func `a record with a number below 0, or with a text beyond four kilobytes, is none`() throws {
        let (record, name) = record(text)
        var rest = try content(record, name)[...]
        let head = try #require(NumberedFields.takePart(&rest))
        func isRead(_ change: (inout NumberedFields) -> Void) -> Bool {
            var fields = NumberedFields()
            change(&fields)
            var bytes: [UInt8] = []
            NumberedFields.append(part: Array(head) + fields.bytes, to: &bytes)
            return SharedRecord(bytes + rest, named: name, keys: nil) != nil
        }
        for (rank, isSound) in [(0, true), (-1, false)] as [(Int64, Bool)] {
            #expect(isRead { $0.append(SharedRecord.Field.rank.rawValue, rank) } == isSound)
        }
        for (count, isSound) in [(4_096, true), (4_097, false)] {
            let url = "/" + String(repeating: "u", count: count - 1)
            #expect(isRead { $0.append(SharedRecord.Field.url.rawValue, url) } == isSound)
        }
    }

    @Test func `the texts of a chain are bounded together`() throws {
        let types = (0..<100).map { "\($0)" + String(repeating: "a", count: 100) }
        let wide = ChainKey(authority: "api.example", match: "/feed", matchDest: types)
        let fine = ChainKey(authority: "api.example", match: "/feed", matchDest: Array(types.prefix(10)))
        for (chain, isRead) in [(wide, false), (fine, true)] {
            let (record, name) = record(text, chain: chain)
            #expect((SharedRecord(try content(record, name), named: name, keys: nil) != nil) == isRead)
            var fields = NumberedFields()
            fields.append(1, chain.authority)
            fields.append(2, chain.match)
            for type in chain.matchDest { fields.append(3, type) }
            fields.append(4, text.digest.bytes)
            var batch: [UInt8] = []
            NumberedFields.append(part: fields.bytes, to: &batch)
            #expect(SharedNews.read(batch).isEmpty != isRead)
        }
    }

    @Test(arguments: [(0, nil), (3, nil), (4, 0x0101_0101), (5, nil)] as [(Int, UInt32?)])
    func `a number that has not exactly its bytes is none`(count: Int, number: UInt32?) {
        let read: UInt32? = BigEndian.number([UInt8](repeating: 1, count: count)[...])
        #expect(read == number)
    }

    @Test func `fields that a newer release adds are skipped`() throws {
        let (record, name) = record(text)
        var rest = try content(record, name)[...]
        let head = try #require(NumberedFields.takePart(&rest))
        var fields = NumberedFields()
        fields.append(200, "a field of the future")
        var bytes: [UInt8] = []
        NumberedFields.append(part: fields.bytes + Array(head), to: &bytes)
        #expect(SharedRecord(bytes + rest, named: name, keys: nil)?.body.bytes == text.bytes)
    }

    @Test func `a max age beyond all seconds is the longest one`() throws {
        let (record, name) = record(text)
        var rest = try content(record, name)[...]
        let head = try #require(NumberedFields.takePart(&rest))
        var fields = NumberedFields()
        fields.append(SharedRecord.Field.maxAge.rawValue, Int64.max)
        var bytes: [UInt8] = []
        NumberedFields.append(part: Array(head) + fields.bytes, to: &bytes)
        let read = try #require(SharedRecord(bytes + rest, named: name, keys: nil))
        #expect(read.facts.traits.maxAge == Version.secondsMax)
    }

    @Test func `a record that does not say its length is none`() throws {
        let (record, name) = record(text)
        var rest = try content(record, name)[...]
        let head = try #require(NumberedFields.takePart(&rest))
        var fields = NumberedFields()
        for (number, value) in try #require(NumberedFields.read(head))
        where number != SharedRecord.Field.count.rawValue {
            fields.append(number, value)
        }
        var bytes: [UInt8] = []
        NumberedFields.append(part: fields.bytes, to: &bytes)
        #expect(PackedRecord(bytes + rest, named: name, keys: nil) == nil)
    }

    // MARK: Sealed records

    private func personal(_ body: Body, _ keys: StoreKeys) throws -> ChainKey {
        try #require(
            keys.personalChain(of: body.digest, like: ChainKey(authority: "api.example", match: "/inbox")))
    }

    @Test func `a sealed record reveals neither user nor path nor body`() throws {
        let keys = try PrivateStore.keys()
        let tag = try #require(
            keys.identityTag(authority: "api.example", items: [("authorization", Array("Bearer alice".utf8))])
        )
        let whole = Body(Array((0..<200).map { "private \($0)" }.joined().utf8))
        for chain in [
            ChainKey(authority: "api.example", scope: .private(tag), match: "/inbox"),
            ChainKey(authority: "api.example", scope: .unlisted, match: "/inbox"),
            try personal(whole, keys),
        ] {
            let (record, name) = record(whole, chain: chain, keys: keys)
            #expect(name.isSealed)
            let values = try #require(record.values(named: name, keys: keys))
            let key = try #require(SharedKeys(prefix: "dictum", keys: keys).key(of: name))
            let all = String(decoding: values.joined(), as: UTF8.self) + key
            for secret in [
                "alice", "inbox", "feed", "api.example", "private", "json", whole.digest.base64URL,
            ] {
                #expect(!all.contains(secret), "\(secret) in \(chain.scope)")
            }
            let read = try #require(SharedRecord(try content(record, name, keys), named: name, keys: keys))
            #expect(read.body.bytes == whole.bytes && read.chain == chain)
            let news = SharedNews.batches([SharedNews(of: record, named: name)])[0]
            #expect(!String(decoding: news, as: UTF8.self).contains("inbox"))
        }
    }

    @Test func `a sealed record opens with the common key and under its own name only`() throws {
        let keys = try PrivateStore.keys()
        let chain = try personal(text, keys)
        let (record, name) = record(text, chain: chain, keys: keys)
        let bytes = try content(record, name, keys)
        #expect(SharedRecord(bytes, named: name, keys: try PrivateStore.keys(2)) == nil)
        #expect(SharedRecord(bytes, named: name, keys: nil) == nil)
        let other = SharedName(chain: nil, digest: sampleBody(1).digest)
        #expect(SharedRecord(bytes, named: other, keys: keys) == nil)
        #expect(record.values(named: name, keys: nil) == nil)
    }

    @Test func `two users with the same body have two names`() throws {
        let keys = try PrivateStore.keys()
        let names = try ["alice", "bob"].map { user in
            let tag = try #require(
                keys.identityTag(authority: "api.example", items: [("cookie", Array(user.utf8))]))
            let chain = ChainKey(authority: "api.example", scope: .private(tag), match: "/inbox")
            return record(text, chain: chain, keys: keys).1
        }
        #expect(names[0] != names[1])
    }

    // MARK: Keys

    @Test func `keys have the schema's version, and a tag of the common key where they are sealed`() throws {
        let keys = try PrivateStore.keys()
        let open = SharedKeys(prefix: "shop", keys: nil)
        let name = SharedName(publicChain: feedChain, digest: text.digest)
        #expect(open.key(of: name) == "shop:1:v:\(feedChain.name):\(text.digest.base64URL)")
        #expect(open.news == "shop:1:news" && open.demand == "shop:1:demand" && open.sealedNews == nil)
        let sealed = SharedKeys(prefix: "shop", keys: keys)
        #expect(sealed.news == open.news)
        #expect(sealed.sealedNews == "shop:1:k\(keys.sharedTag):news")
        #expect(keys.sharedTag.utf8.count == 11)
        #expect(try keys.sharedTag != PrivateStore.keys(2).sharedTag)
        #expect(open.key(of: SharedName(chain: nil, digest: text.digest)) == nil)
        let code = SharedName(chain: nil, digest: text.digest)
        #expect(SharedName(key: try #require(open.key(of: name))) == name)
        #expect(SharedName(key: try #require(sealed.key(of: code))) == code)
        let short = "shop:1:v:AAAA:\(text.digest.base64URL)"
        for key in ["", "shop:1:news", "shop:1:v:x", short, try #require(open.key(of: name)) + ":2"] {
            #expect(SharedName(key: key) == nil, "\(key)")
        }
        #expect(open.partKeys(of: "k", parts: 1).isEmpty)
        #expect(open.partKeys(of: "k", parts: 3) == ["k:2", "k:3"])
    }

    @Test func `the names of a chain, of a key and of a sealed version are those of other releases`() throws {
        let scripts = ChainKey(
            authority: "api.example", match: "/app/*", matchDest: ["script", "style"])
        #expect(feedChain.name == "8Hv4GWDeZXuK6fGBuFTdUQ")
        #expect(scripts.name == "JFmoKFc7LZDojPp_CsUPrA")
        let keys = try PrivateStore.keys()
        #expect(keys.sharedTag == "WPzu2YAfVQM")
        let digest = try #require(Digest(bytes: [UInt8](repeating: 7, count: 32)))
        let inbox = ChainKey(authority: "api.example", scope: .unlisted, match: "/inbox")
        let name = SharedName(chain: inbox, digest: digest, keys: keys)
        #expect(name?.digest.base64URL == "14uHcyKHfEhl6jMRsLZRYf6aWyvGdGvpIOHjxc78DBM")
    }

    @Test(arguments: [1, 2, 3]) func `the keys of a body are those of all its parts`(parts: Int) throws {
        let keys = SharedKeys(prefix: "shop", keys: nil)
        for missing in [0, 1, 200, 1_000] {
            let (record, name) = record(sampleBody(parts, count: parts * SharedValue.bytesMax - missing))
            let values = try #require(record.values(named: name, keys: nil))
            let all = keys.keys(of: name, bodyBytes: record.body.count)
            #expect(all.count >= values.count, "\(missing) bytes fewer")
            #expect(keys.keys(of: name, bodyBytes: 700_000).count == 1)
        }
    }

    @Test func `a fleet has no key of another one whose prefix begins with its own`() throws {
        let keys = try PrivateStore.keys()
        let name = SharedName(publicChain: feedChain, digest: text.digest)
        let code = SharedName(chain: nil, digest: text.digest)
        func all(_ prefix: String) -> [String] {
            let shared = SharedKeys(prefix: prefix, keys: keys)
            let versions = [name, code].compactMap(shared.key)
            return versions + versions.map { $0 + ":2" } + [shared.news, shared.demand]
                + [shared.sealedNews].compactMap(\.self)
        }
        let shop = SharedKeys(prefix: "shop", keys: nil)
        #expect(all("shop").count == 7 && all("shop").allSatisfy(shop.has))
        for other in ["shop:1", "shop:1:k2", "shops", "sho"] {
            #expect(!all(other).contains(where: shop.has))
        }
    }

    @Test func `a batch of promised ids has no more of them than a node writes into one`() {
        let promises = (0..<4000).compactMap { number in
            PromisedTag(bytes: BigEndian.bytes(UInt64(number)) + [UInt8](repeating: 0, count: 8)).map {
                PromisedIDs.Promise($0, network: UInt16(number))
            }
        }
        let batch = SharedNews.batch(promises: promises)
        #expect(SharedNews.readPromises(batch) == Array(promises.prefix(WaitingPromises.batchCount)))
    }
}
