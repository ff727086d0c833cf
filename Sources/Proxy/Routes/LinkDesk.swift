internal import Dictionaries
internal import Synchronization

/// Which stored versions Links name, and whether they still save what they did.
///
/// The names themselves are in the store, where they survive a restart. Safe from any thread.
final class LinkDesk: Sendable {
    /// Names whose gain is watched; those beyond are kept for their whole life.
    private static let watchedMax = 10_000

    private let store: DictionaryStore
    private let pool: CompressionPool
    /// By the id of the named version.
    private let gains = Guarded<[Int64: NamedGain]>([:])
    /// One measurement at a time: it is worth little, and so may cost little.
    private let isMeasuring = Atomic<Bool>(false)

    init(store: DictionaryStore, pool: CompressionPool) {
        self.store = store
        self.pool = pool
    }

    /// The version that Links of this chain and variant name; nil if none is, and none can be yet.
    ///
    /// `body`, once it is admitted, is named where none is; where another is, it may be measured against it.
    func named(
        for place: Answer.Place, body: Body?, index: DictionaryIndex.Reader, lifeSeconds: Int, now: Int
    ) -> Version? {
        if let named = index.named(chain: place.chain, variant: place.variant, now: now) {
            store.touch(named, now: now)
            if let body { consider(body, place, named: named, index, lifeSeconds: lifeSeconds, now: now) }
            return named
        }
        // A 304 has no body, but the version that it is about may be the newest.
        guard let newest = index.newest(chain: place.chain, url: place.url, variant: place.variant),
            body == nil || newest.digest == body?.digest,
            store.name(newest, until: now + lifeSeconds, now: now)
        else { return nil }
        watch(newest, NamedGain(namedAt: now), now: now)
        return newest
    }

    private func watch(_ version: Version, _ gain: NamedGain, now: Int) {
        gains.withLock { gains in
            if gains.count >= Self.watchedMax { gains.removeAll() }
            gains[version.id] = gain
        }
    }

    // MARK: The gain

    /// Has the gain of the named version over another body measured beside the loop, if it is time for that.
    private func consider(
        _ body: Body, _ place: Answer.Place, named: Version, _ index: DictionaryIndex.Reader,
        lifeSeconds: Int, now: Int
    ) {
        guard body.digest != named.digest, !isMeasuring.load(ordering: .relaxed),
            isDue(named, body, now: now),
            let current = index.newest(chain: place.chain, url: place.url, variant: place.variant),
            current.digest == body.digest, !isMeasuring.exchange(true, ordering: .acquiringAndReleasing)
        else { return }
        gains.withLock { $0[named.id]?.begin(with: body.digest, at: now) }
        if let dictionary = store.hotBody(of: named) {
            return measure(body, current, over: dictionary, named, lifeSeconds: lifeSeconds, now: now)
        }
        store.load(named) { [self] dictionary in
            guard let dictionary else { return isMeasuring.store(false, ordering: .releasing) }
            measure(body, current, over: dictionary, named, lifeSeconds: lifeSeconds, now: now)
        }
    }

    /// A name that was made before a restart is watched from its first use on.
    private func isDue(_ named: Version, _ body: Body, now: Int) -> Bool {
        gains.withLock { gains in
            if gains[named.id] == nil, gains.count < Self.watchedMax {
                gains[named.id] = NamedGain(namedAt: now)
            }
            return gains[named.id]?.isDue(with: body.digest, at: now) ?? false
        }
    }

    private func measure(
        _ body: Body, _ current: Version, over dictionary: Body, _ named: Version, lifeSeconds: Int, now: Int
    ) {
        let isTaken = pool.submit(bytes: 2 * body.count) { [self] in
            if let sizes = Self.sizes(of: body, over: dictionary) {
                note(sizes, current, named: named, lifeSeconds: lifeSeconds, now: now)
            }
            isMeasuring.store(false, ordering: .releasing)
        }
        if !isTaken { isMeasuring.store(false, ordering: .releasing) }
    }

    /// The same library with the dictionary and without, so that the difference is the dictionary's.
    private static func sizes(of body: Body, over dictionary: Body) -> (delta: Int, plain: Int)? {
        let fits = DictionaryFit.dczIsPossible(dictionaryBytes: dictionary.count, bodyBytes: body.count)
        let codings: (delta: ContentCoding, plain: ContentCoding) = fits ? (.dcz, .zstd) : (.dcb, .br)
        let over = EncoderOptions(dictionary: .reference(dictionary))
        let bytes = body.bytes
        guard let delta = try? Codec.encode(bytes.span, codings.delta, options: over),
            let plain = try? Codec.encode(bytes.span, codings.plain)
        else { return nil }
        return (delta.count, plain.count)
    }

    private func note(
        _ sizes: (delta: Int, plain: Int), _ current: Version, named: Version, lifeSeconds: Int, now: Int
    ) {
        let former: NamedGain? = gains.withLock { gains in
            guard var gain = gains[named.id] else { return nil }
            let hasHalved = gain.note(deltaBytes: sizes.delta, plainBytes: sizes.plain, at: now)
            gains[named.id] = gain
            return hasHalved ? gain : nil
        }
        guard let former, store.name(current, replacing: named, until: now + lifeSeconds, now: now) else {
            return
        }
        gains.withLock { $0[named.id] = nil }
        watch(current, NamedGain(namedAt: now, replacing: former), now: now)
    }
}
