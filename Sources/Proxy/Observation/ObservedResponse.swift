internal import Dictionaries
internal import Primitives
internal import Storage

/// A request on an observed route, as a live route would read it.
struct ObservedRequest: Sendable {
    /// Its rights on the route with dictionaries, as if the client accepted every coding over one.
    var entitlement: Entitlement
    /// The number of the client; nil if it is unknown.
    let client: UInt64?
    /// The number of clients that it stands for.
    let weight: Double
    let address: UInt128?
    /// The codings without a dictionary that the client accepts.
    let plainCodings: [ContentCoding]
    let compression: Configuration.Compression

    var route: Route { entitlement.resource.route }
    var url: PathAndQuery { entitlement.resource.url }

    /// Returns the group that the response counts in; personal paths have no group of their own.
    func key(isPersonal: Bool) -> ObservedRoutes.Key {
        let hidesPath = isPersonal || route.policy.scope == .private
        return ObservedRoutes.Key(
            route: route.text, authority: entitlement.resource.authority ?? "",
            match: hidesPath ? route.match.text : PathShape.pattern(of: url.path))
    }
}

/// A response of an observed route, with the facts that decide what dictionaries would have done.
struct ObservedResponse: Sendable {
    let asked: ObservedRequest
    let resource: ObservedRoutes.Key
    var facts: ResponseFacts
    /// The place of the body, and its offer.
    let target: AdmissionTarget
    /// The opaque-tag of the entity tag.
    var entityTag: String?
    /// True if Dictum makes one from the body.
    let takesMadeTag: Bool
    /// The seconds for which a browser keeps the response as a dictionary.
    let lifeSeconds: Int
    /// The seconds by which a client's dictionary is renewed; nil if no field says so.
    let renewalSeconds: Int?
    let unkept: UnkeptReason?
    /// The fields that decide what browsers do, without values that may be personal.
    let fields: [String: String]
    /// The body once it is complete, and the time at which it was.
    var body: ObservedBody
    var milliseconds = SystemClock.unixMilliseconds

    var route: Route { asked.route }
    var seconds: Int { Int(milliseconds / 1000) }
    /// The time until which a client keeps the response, in milliseconds since 1970.
    var expiry: Int64 { milliseconds + 1000 * Int64(min(lifeSeconds, 1 << 32)) }

    /// The key under which the client's dictionary is kept; nil for unknown clients.
    var clientKey: ObservedClients.Key? {
        asked.client.map { client in
            var hasher = Hasher()
            hasher.combine(target.key.chainKey.authority)
            hasher.combine(target.key.chainKey.match)
            // On a private route the upstream's response may tell the users of one client apart.
            if route.policy.scope == .private { hasher.combine(target.key.chainKey.scope) }
            return ObservedClients.Key(client: client, match: hasher.finalize())
        }
    }

    /// The number of the URL whose versions follow each other; a person's own for personal responses.
    var urlNumber: Int {
        var hasher = Hasher()
        hasher.combine(target.key.chainKey.authority)
        hasher.combine(asked.url.text)
        hasher.combine(target.key.variant)
        if target.audience == .personal { hasher.combine(asked.client) }
        return hasher.finalize()
    }
}

/// The copy of an observed body, as the upstream sent it; its memory is borrowed.
final class ObservedBody: Sendable {
    /// The memory is borrowed in steps of this size.
    private static let stepBytes = 64 << 10

    let bytes: [UInt8]
    /// The upstream's coding; nil for none.
    let coding: ContentCoding?
    private let memory: MemoryLoan?

    /// Makes a body; by default that of a response without one.
    init(_ bytes: [UInt8] = [], _ coding: ContentCoding? = nil, memory: consuming MemoryLoan? = nil) {
        (self.bytes, self.coding) = (bytes, coding)
        self.memory = memory
    }

    /// Returns the body without the upstream's coding; nil if it is malformed or too long.
    func decoded(bytesMax: Int) -> [UInt8]? {
        guard let coding else { return bytes.count <= bytesMax ? bytes : nil }
        let bytes = bytes
        return try? Codec.decode(bytes.span, coding, limits: DecoderLimits(maxBytes: bytesMax))
    }

    struct Copy: ~Copyable {
        private var bytes: [UInt8] = []
        private var memory: MemoryLoan?
        private let bytesMax: Int
        private let coding: ContentCoding?
        private let share: MemoryShare

        init(_ coding: ContentCoding?, bytesMax: Int, memory share: MemoryShare) {
            (self.coding, self.bytesMax, self.share) = (coding, bytesMax, share)
        }

        /// Adds bytes; returns false if the body is too long or there is no memory.
        mutating func append(_ piece: Span<UInt8>) -> Bool {
            let count = bytes.count + piece.count
            let reserved = memory?.bytes ?? 0
            guard count <= bytesMax,
                count <= reserved || share.resize(&memory, to: max(count, reserved + ObservedBody.stepBytes))
            else { return false }
            bytes.append(piece)
            return true
        }

        mutating func take() -> ObservedBody {
            ObservedBody(exchange(&bytes, with: []), coding, memory: memory.take())
        }
    }
}
