package import Dictionaries
internal import Primitives

/// The name of a version in the shared store: the same on every node that has it.
///
/// A public version is named by its chain and its digest, any other one by a code under the key that the nodes have in
/// common, which reveals neither.
package struct SharedName: Hashable, Sendable {
    /// The name of a public chain; nil for a sealed version.
    let chain: String?
    /// The digest of a public body, or the code.
    package let digest: Digest

    /// Names a version that all clients may use.
    package init(publicChain: ChainKey, digest: Digest) {
        self.init(chain: publicChain.name, digest: digest)
    }

    init(chain: String?, digest: Digest) {
        self.chain = chain
        self.digest = digest
    }

    /// Names a version by its digest, or the name of that in a private chain; nil where a key is missing.
    package init?(chain: ChainKey, digest: Digest, keys: StoreKeys?) {
        if chain.scope == .public {
            self.init(publicChain: chain, digest: digest)
        } else if let keys {
            self.init(chain: nil, digest: keys.sharedName(of: digest, in: chain))
        } else {
            return nil
        }
    }

    package var isSealed: Bool { chain == nil }

    /// Hashes all bytes: whoever writes to the shared store or names a dictionary chooses them.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(chain)
        digest.hashAll(into: &hasher)
    }

    /// Reads the name in a key of the shared store; nil if it is not the key of a version, or that of a further part.
    package init?(key: String) {
        let words = key.split(separator: ":", omittingEmptySubsequences: false)
        guard let digest = words.last.flatMap({ Digest(base64URL: String($0)) }), words.count >= 3 else {
            return nil
        }
        if words[words.count - 2] == "v" {
            self.init(chain: nil, digest: digest)
        } else if words[words.count - 3] == "v", Base64.decodeURL(String(words[words.count - 2]))?.count == 16
        {
            self.init(chain: String(words[words.count - 2]), digest: digest)
        } else {
            return nil
        }
    }

    // MARK: On the wire

    /// The bytes of the longer form: a chain's name and a digest.
    static let bytesMax = chainBytes + Digest.byteCount
    private static let chainBytes = 16

    var bytes: [UInt8] { (chain.flatMap(Base64.decodeURL) ?? []) + digest.bytes }

    init?(bytes: ArraySlice<UInt8>) {
        switch bytes.count {
        case Digest.byteCount: chain = nil
        case Self.bytesMax: chain = Base64.encodeURL(Array(bytes.prefix(Self.chainBytes)))
        default: return nil
        }
        guard let digest = Digest(bytes: Array(bytes.suffix(Digest.byteCount))) else { return nil }
        self.digest = digest
    }
}

extension Version {
    /// Returns its name in the shared store; nil where a key is missing.
    package func sharedName(_ keys: StoreKeys?) -> SharedName? {
        SharedName(chain: chainKey, digest: digest, keys: keys)
    }
}

/// The names of everything that Dictum keeps in the shared store.
///
/// The prefix has the version of the schema: a release with another one reads and writes other keys. Sealed versions
/// have a keyed tag in it, so that nodes with different keys never read each other's.
package struct SharedKeys: Sendable, Equatable {
    package static let schema = 1

    private let prefix: String
    private let sealedPrefix: String?

    /// Makes names below an operator's prefix; `keys` are those that all nodes have in common, if they have any.
    package init(prefix: String, keys: StoreKeys?) {
        self.prefix = "\(prefix):\(Self.schema):"
        sealedPrefix = keys.map { "\(prefix):\(Self.schema):k\($0.sharedTag):" }
    }

    /// The stream of announced public versions.
    package var news: String { prefix + "news" }
    /// The stream of announced sealed versions; nil without a common key.
    package var sealedNews: String? { sealedPrefix.map { $0 + "news" } }
    /// The stream of changed holder counts, and of the nodes that are there.
    package var demand: String { prefix + "demand" }
    /// A pattern that all keys match; those of a fleet whose prefix begins with this one match too.
    package var pattern: String { prefix + "*" }

    /// Returns true if a key is one of these.
    package func has(_ key: String) -> Bool {
        guard key.hasPrefix(prefix) else { return false }
        let words = key.dropFirst(prefix.count).split(separator: ":", omittingEmptySubsequences: false)
        let kind = words.first?.hasPrefix("k") == true ? words.dropFirst().first : words.first
        return kind.map { ["v", "news", "demand"].contains($0) } ?? false
    }

    /// Returns the key of a version; nil for a sealed one without a common key.
    package func key(of name: SharedName) -> String? {
        if let chain = name.chain { return "\(prefix)v:\(chain):\(name.digest.base64URL)" }
        return sealedPrefix.map { "\($0)v:\(name.digest.base64URL)" }
    }

    /// Returns the key of a version and those of all parts that it may have, by the length of its body.
    package func keys(of name: SharedName, bodyBytes: Int) -> [String] {
        guard let key = key(of: name) else { return [] }
        let parts = 1 + (bodyBytes + Self.factBytesMax) / SharedValue.bytesMax
        return [key] + partKeys(of: key, parts: min(parts, SharedValue.partsMax))
    }

    /// More than a value has beside its body.
    private static let factBytesMax = 100_000

    /// Returns the keys of a version's further parts.
    package func partKeys(of key: String, parts: Int) -> [String] {
        parts > 1 ? (2...parts).map { "\(key):\($0)" } : []
    }
}

extension StoreKeys {
    /// The tag by which nodes find out that they have the same key: eleven characters that reveal nothing about it.
    package var sharedTag: String { Base64.encodeURL(Array(sharing.code(of: Array("tag".utf8)).prefix(8))) }

    func sharedName(of digest: Digest, in chain: ChainKey) -> Digest {
        let scope = LengthPrefixed(chain.scope.kind, chain.scope.tag?.bytes ?? [], chain: chain)
        let message = LengthPrefixed("name", scope.bytes, digest.bytes)
        guard let name = Digest(bytes: sharing.code(of: message.bytes)) else {
            preconditionFailure("a code has 32 bytes")
        }
        return name
    }

    /// The seal of the version with a name.
    func seal(ofShared name: Digest) -> Seal { Seal(sharing, LengthPrefixed("shared version", name.bytes)) }
}
