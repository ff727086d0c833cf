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

    fileprivate enum Form: Int64 {
        case whole = 0
        case zstd = 1
    }

    // MARK: Writing

    /// Returns the record as values of the shared store, the first with the head; nil if the body is too large or cannot
    /// be sealed.
    package func values(named name: SharedName, keys: StoreKeys?) -> [[UInt8]]? {
        guard body.count <= Self.bodyBytesMax else { return nil }
        let content = content()
        guard name.isSealed else { return SharedValue.split(content, isSealed: false) }
        guard let keys, let sealed = try? keys.seal(ofShared: name.digest).seal(content) else { return nil }
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

    /// The values of a record's fields as they are read; of several with one number the last counts, except in lists.
    fileprivate struct Values {
        private(set) var texts: [Field: [String]] = [:]
        private(set) var numbers: [Field: Int64] = [:]
        private(set) var bytes: [Field: [UInt8]] = [:]

        /// Takes the fields that this release knows; nil if the value of one of them is invalid.
        init?(_ fields: [(number: UInt8, value: ArraySlice<UInt8>)]) {
            for (number, value) in fields {
                guard let field = Field(rawValue: number) else { continue }
                switch field {
                case .tag, .isUpstreamMatch, .digest: bytes[field] = Array(value)
                case .maxAge, .rank, .count, .form:
                    guard let number: Int64 = BigEndian.number(value), number >= 0 else { return nil }
                    numbers[field] = number
                case .scope, .authority, .match, .matchDest, .url, .variant, .etag, .contentType:
                    guard value.count <= StoredSize.namesMax,
                        let text = String(validating: value, as: UTF8.self)
                    else { return nil }
                    texts[field, default: []].append(text)
                }
            }
        }

        func text(_ field: Field) -> String? { texts[field]?.last }
        func digest(_ field: Field) -> Digest? { bytes[field].flatMap { Digest(bytes: $0) } }

        var chain: ChainKey? {
            let tag = digest(.tag).map { IdentityTag(code: $0) }
            guard let match = text(.match), let scope = ChainKey.Scope(kind: text(.scope) ?? "", tag: tag)
            else { return nil }
            let chain = ChainKey(
                authority: text(.authority) ?? "", scope: scope, match: match,
                matchDest: texts[.matchDest] ?? [])
            return chain.textBytes <= SharedRecord.textBytesMax ? chain : nil
        }
    }
}

/// A record whose body is neither unpacked nor verified yet.
package struct PackedRecord: Sendable {
    private let chain: ChainKey
    private let facts: VersionFacts
    private let rank: Int64
    /// The form of the payload; nil for one of a newer release.
    private let form: SharedRecord.Form?
    private let payload: ArraySlice<UInt8>
    private let keys: StoreKeys?

    /// The length of the body that the record states; unpacking never yields more.
    package var bodyBytes: Int { facts.bytes }

    /// Reads the facts of a value's content; nil if it is not what its name says, or states too large a body.
    package init?(_ content: [UInt8], named name: SharedName, keys: StoreKeys?) {
        guard let plain = name.isSealed ? keys?.seal(ofShared: name.digest).open(content) : content else {
            return nil
        }
        var rest = plain[...]
        guard let head = NumberedFields.takePart(&rest).flatMap(NumberedFields.read),
            let values = SharedRecord.Values(head), let chain = values.chain,
            let digest = values.digest(.digest), let count = values.numbers[.count],
            SharedName(chain: chain, digest: digest, keys: keys) == name,
            count <= SharedRecord.bodyBytesMax
        else { return nil }
        facts = VersionFacts(
            digest: digest, url: values.text(.url) ?? "", etag: values.text(.etag), bytes: Int(count),
            traits: VersionTraits(
                variant: values.text(.variant) ?? "", contentType: values.text(.contentType),
                maxAge: min(Int(values.numbers[.maxAge] ?? 0), Version.secondsMax),
                isUpstreamMatch: values.bytes[.isUpstreamMatch] != nil))
        (self.chain, self.keys, payload) = (chain, keys, rest)
        rank = values.numbers[.rank] ?? 0
        form = values.numbers[.form].flatMap { SharedRecord.Form(rawValue: $0) }
    }

    /// Returns the record; nil if its body has another length or form, or is not the one of its name.
    package func unpacked() -> SharedRecord? {
        let bytes: [UInt8]? =
            switch form {
            case .whole: payload.count == bodyBytes ? Array(payload) : nil
            case .zstd: try? ZstdFrames.unpack(Array(payload), count: bodyBytes)
            case nil: nil
            }
        guard let body = bytes.map({ Body($0) }), chain.isName(facts.digest, ofBody: body.digest, keys)
        else { return nil }
        return SharedRecord(chain: chain, facts: facts, rank: rank, body: body)
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
