package import Dictionaries
internal import Primitives

/// A version as the shared store keeps it: the facts of its response, and its body.
///
/// Whatever a reader finds there is untrusted: a record counts only if its body has the digest of its name.
package struct SharedRecord: Sendable {
    package let chain: ChainKey
    let facts: VersionFacts
    /// The time of admission in microseconds since 1970, by which the versions of a chain are ordered.
    package let rank: Int64
    package let body: Body

    package var url: String { facts.url }
    package var contentType: String? { facts.traits.contentType }
    package var digest: Digest { facts.digest }

    package static let bodyBytesMax = 12 << 20

    /// The greatest length of a chain's texts with its compiled pattern, which stay in memory with it.
    static let textBytesMax = 2 * StoredSize.namesMax

    /// The numbers of the fields; a number is never used again for another meaning.
    enum Field: UInt8 {
        case scope = 1
        case tag, authority, match, matchDest, url, variant, etag, contentType, maxAge, isUpstreamMatch,
            digest, rank, count, form
    }

    private enum Form: Int64 {
        case whole = 0
        case zstd = 1
    }
}

// MARK: Writing

extension SharedRecord {
    /// Returns the record as values of the shared store, the first with the head; nil if the body is too large or cannot
    /// be sealed.
    package func values(named name: SharedName, keys: StoreKeys?) -> [[UInt8]]? {
        guard body.count <= Self.bodyBytesMax else { return nil }
        let content = content()
        guard name.isSealed else { return SharedValue.split(content, isSealed: false) }
        guard let keys, let sealed = try? keys.sealShared(content, name: name.digest) else { return nil }
        return SharedValue.split(sealed, isSealed: true)
    }

    private func content() -> [UInt8] {
        var packed = body.count < Self.packedMin ? nil : try? ZstdFrames.pack(body)
        if let frame = packed, frame.count * 16 >= body.count * 15 { packed = nil }
        var bytes: [UInt8] = []
        let fields = fields(form: packed == nil ? .whole : .zstd)
        let payload = packed ?? body.bytes
        bytes.reserveCapacity(fields.count + payload.count + 8)
        NumberedFields.append(part: fields, to: &bytes)
        bytes += payload
        return bytes
    }

    /// The size below which packing does not pay.
    private static let packedMin = 256

    private func fields(form: Form) -> [UInt8] {
        var fields = NumberedFields()
        func append(_ field: Field, _ text: String) { fields.append(field.rawValue, text) }
        append(.scope, chain.scope.kind)
        if let tag = chain.scope.tag { fields.append(Field.tag.rawValue, tag.bytes) }
        append(.authority, chain.authority)
        append(.match, chain.match)
        for destination in chain.matchDest { append(.matchDest, destination) }
        append(.url, facts.url)
        append(.variant, facts.traits.variant)
        if let etag = facts.etag { append(.etag, etag) }
        if let type = facts.traits.contentType { append(.contentType, type) }
        fields.append(Field.maxAge.rawValue, Int64(facts.traits.maxAge))
        if facts.traits.isUpstreamMatch { fields.append(Field.isUpstreamMatch.rawValue, []) }
        fields.append(Field.digest.rawValue, facts.digest.bytes)
        fields.append(Field.rank.rawValue, rank)
        fields.append(Field.count.rawValue, Int64(body.count))
        fields.append(Field.form.rawValue, form.rawValue)
        return fields.bytes
    }
}

// MARK: Reading

extension SharedRecord {
    /// Reads the content of a value, and verifies its body; nil if it is not what its name says.
    ///
    /// - Parameter bodyBytesMax: The largest body that is unpacked.
    package init?(
        _ content: [UInt8], named name: SharedName, keys: StoreKeys?, bodyBytesMax: Int = Self.bodyBytesMax
    ) {
        guard let packed = PackedRecord(content, named: name, keys: keys), packed.bodyBytes <= bodyBytesMax,
            let record = packed.unpacked()
        else { return nil }
        self = record
    }

    /// The fields of a record while they are read.
    fileprivate struct Draft {
        private var kind = ""
        private var tag: IdentityTag?
        private var authority = ""
        private var match: String?
        private var matchDest: [String] = []
        private var url = ""
        private var variant = ""
        private var etag: String?
        private var contentType: String?
        private var maxAge = 0
        private var isUpstreamMatch = false
        private(set) var digest: Digest?
        private(set) var rank: Int64 = 0
        private(set) var count: Int64 = -1
        private var form: Int64 = -1

        private struct Invalid: Error {}

        init(_ fields: [(number: UInt8, value: ArraySlice<UInt8>)]) throws {
            for (number, value) in fields {
                switch Field(rawValue: number) {
                case .scope: kind = try Self.text(value)
                case .tag: tag = IdentityTag(bytes: Array(value))
                case .authority: authority = try Self.text(value)
                case .match: match = try Self.text(value)
                case .matchDest: matchDest.append(try Self.text(value))
                case .url: url = try Self.text(value)
                case .variant: variant = try Self.text(value)
                case .etag: etag = try Self.text(value)
                case .contentType: contentType = try Self.text(value)
                case .maxAge: maxAge = min(Int(try Self.number(value)), Version.secondsMax)
                case .isUpstreamMatch: isUpstreamMatch = true
                case .digest: digest = Digest(bytes: Array(value))
                case .rank: rank = try Self.number(value)
                case .count: count = try Self.number(value)
                case .form: form = try Self.number(value)
                case nil: break
                }
            }
        }

        private static func text(_ value: ArraySlice<UInt8>) throws -> String {
            guard value.count <= StoredSize.namesMax, let text = String(validating: value, as: UTF8.self)
            else { throw Invalid() }
            return text
        }

        private static func number(_ value: ArraySlice<UInt8>) throws -> Int64 {
            guard let number: Int64 = BigEndian.number(value), number >= 0 else { throw Invalid() }
            return number
        }

        var chain: ChainKey? {
            guard let match, let scope = ChainKey.Scope(kind: kind, tag: tag) else { return nil }
            let chain = ChainKey(authority: authority, scope: scope, match: match, matchDest: matchDest)
            return chain.textBytes <= SharedRecord.textBytesMax ? chain : nil
        }

        func facts(of digest: Digest, bytes: Int) -> VersionFacts {
            VersionFacts(
                digest: digest, url: url, etag: etag, bytes: bytes,
                traits: VersionTraits(
                    variant: variant, contentType: contentType, maxAge: maxAge,
                    isUpstreamMatch: isUpstreamMatch))
        }

        /// Returns the whole body, hashed; nil if it has another length, or a form of a newer release.
        func body(_ payload: ArraySlice<UInt8>) -> Body? {
            guard let form = Form(rawValue: form) else { return nil }
            switch form {
            case .whole: return payload.count == Int(count) ? Body(Array(payload)) : nil
            case .zstd: return (try? ZstdFrames.unpack(Array(payload), count: Int(count))).map { Body($0) }
            }
        }
    }
}

/// A record whose body is neither unpacked nor verified yet.
package struct PackedRecord: Sendable {
    /// The length of the body that the record states; unpacking never yields more.
    package let bodyBytes: Int
    private let chain: ChainKey
    private let digest: Digest
    private let draft: SharedRecord.Draft
    private let payload: ArraySlice<UInt8>
    private let keys: StoreKeys?

    /// Reads the facts of a value's content; nil if it is not what its name says, or states too large a body.
    package init?(_ content: [UInt8], named name: SharedName, keys: StoreKeys?) {
        var rest: ArraySlice<UInt8>
        if name.isSealed {
            guard let plain = keys?.openShared(content, name: name.digest) else { return nil }
            rest = plain[...]
        } else {
            rest = content[...]
        }
        guard let head = NumberedFields.takePart(&rest).flatMap(NumberedFields.read),
            let draft = try? SharedRecord.Draft(head), let chain = draft.chain, let digest = draft.digest,
            SharedName(chain: chain, digest: digest, keys: keys) == name,
            0...Int64(SharedRecord.bodyBytesMax) ~= draft.count
        else { return nil }
        (self.chain, self.digest, self.draft, self.keys) = (chain, digest, draft, keys)
        payload = rest
        bodyBytes = Int(draft.count)
    }

    /// Returns the record; nil if its body is not the one of its name.
    package func unpacked() -> SharedRecord? {
        guard let body = draft.body(payload), chain.isName(digest, ofBody: body.digest, keys)
        else { return nil }
        return SharedRecord(
            chain: chain, facts: draft.facts(of: digest, bytes: body.count), rank: draft.rank, body: body)
    }
}

/// A value of the shared store: a head, and the content of a record or its beginning.
package struct SharedValue: Sendable {
    package let isSealed: Bool
    /// The number of values that have the content.
    package let parts: Int
    private let count: Int
    private let beginning: ArraySlice<UInt8>

    /// The largest value: Redis and Valkey serve others meanwhile.
    package static let bytesMax = 900_000
    package static let partsMax = 16
    private static let magic = Array("DV1".utf8)
    private static let headBytes = 9

    /// Cuts a content into values; nil if there would be too many.
    static func split(_ content: [UInt8], isSealed: Bool) -> [[UInt8]]? {
        let first = bytesMax - headBytes
        let parts = 1 + max(0, content.count - first + bytesMax - 1) / bytesMax
        guard parts <= partsMax else { return nil }
        let head = magic + [isSealed ? 1 : 0, UInt8(parts)] + BigEndian.bytes(UInt32(content.count))
        return [head + content.prefix(first)]
            + content.dropFirst(first).pieces(of: bytesMax).map { Array($0) }
    }

    /// Reads the first value; nil if it has another format.
    package init?(_ value: [UInt8]) {
        guard value.count >= Self.headBytes, value.starts(with: Self.magic), value[3] <= 1,
            (1...Self.partsMax).contains(Int(value[4])),
            let count: UInt32 = BigEndian.number(value[5..<Self.headBytes]),
            Int(count) <= Self.bytesMax * Self.partsMax
        else { return nil }
        isSealed = value[3] == 1
        parts = Int(value[4])
        self.count = Int(count)
        beginning = value[Self.headBytes...]
    }

    /// Returns true if a newer release wrote a value, whose head this one does not know.
    package static func isNewer(_ value: [UInt8]) -> Bool {
        value.count >= magic.count && value.starts(with: magic.dropLast())
            && (UInt8(ascii: "2")...UInt8(ascii: "9")).contains(value[magic.count - 1])
    }

    /// Returns the content; nil if a part is missing or too short.
    package func content(with others: [[UInt8]] = []) -> [UInt8]? {
        guard others.count == parts - 1 else { return nil }
        var content = Array(beginning)
        for part in others { content += part }
        return content.count == count ? content : nil
    }
}
