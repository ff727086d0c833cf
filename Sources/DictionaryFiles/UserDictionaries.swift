package import Dictionaries

/// The dictionaries of one user: which of them a request may name, and what is kept.
package actor UserDictionaries {
    /// The dictionaries that are to be fetched when the app is idle.
    package nonisolated let linked = LinkedFetches()
    private let user: UserFolder
    private let limit: StoreLimit
    /// The current generation and its dictionaries; nil until there is one.
    private var current: (generation: Int, folder: DictionaryFolder)?

    init(_ user: UserFolder, limit: StoreLimit) {
        self.user = user
        self.limit = limit
    }

    /// Changes whenever everything is removed, by whichever process, so that a response to an earlier request is not kept.
    ///
    /// A request reads it before it is sent. It is nil until one begins, and after a removal.
    package var generation: Int? {
        find()
        return current?.generation
    }

    /// Returns the generation in which a response may be kept; begins one if there is none.
    package func begin() -> Int { generation ?? user.begin() }

    /// Returns what a request for a URL may name, and what a 304 may confirm if it is a GET.
    package func held(
        for target: TargetURI, operation: String? = nil, isGet: Bool = true, now milliseconds: Int64
    ) -> (best: VerifiedDictionary?, own: VerifiedDictionary?) {
        let all = records().map(\.dictionary)
        let ranked = CachedDictionary.ranked(
            all, for: target, operation: operation, destination: "", at: milliseconds / 1000)
        var best: VerifiedDictionary?
        for dictionary in ranked where best == nil { best = load(dictionary) }
        // RFC 9110 section 13.1.2: a condition of another method would keep the request from being acted upon.
        guard isGet else { return (best, nil) }
        if let best, best.record.dictionary.url == target.text { return (best, best) }
        let own = all.filter { $0.url == target.text && $0.etag != nil && $0.operation == operation }
            .max { $0.storedAt < $1.storedAt }
        return (best, own.flatMap(load))
    }

    /// Returns true if a dictionary that came from this URL may be named, whatever its pattern.
    package func hasUsable(_ target: TargetURI, at seconds: Int64) -> Bool {
        records().contains { $0.dictionary.url == target.text && $0.dictionary.isUsable(at: seconds) }
    }

    /// Returns true if a usable dictionary with this content is held for the same match, or one that came from another URL: what
    /// the server has named since is newer.
    package func has(_ dictionary: CachedDictionary, at seconds: Int64) -> Bool {
        records().map(\.dictionary).contains {
            $0.key == dictionary.key && $0.isUsable(at: seconds)
                && ($0.digest == dictionary.digest || $0.url != dictionary.url)
        }
    }

    /// Returns the newest usable dictionary that came from a URL, if the server accepts request bodies that are coded over it
    /// (RFC 9110 section 12.5.3).
    package func forUpload(
        to target: TargetURI, operation: String?, now milliseconds: Int64
    ) -> VerifiedDictionary? {
        let candidates = records().filter {
            $0.dictionary.url == target.text && $0.dictionary.operation == operation
                && $0.dictionary.isUsable(at: milliseconds / 1000) && $0.announcesUploads
        }
        return candidates.max { $0.dictionary.storedAt < $1.dictionary.storedAt }
            .flatMap { load($0.dictionary) }
    }

    /// Keeps a dictionary in place of an older one with the same match; others go if needed, also those of other users.
    ///
    /// Returns false, and keeps nothing, if the dictionary is too large, or all were removed since `generation`, or might have been,
    /// since there was none. Returns false also if it came stale, and then keeps it unless it would replace a usable one.
    package func keep(_ record: ClientRecord, _ body: Body, generation: Int?) throws -> Bool {
        guard let generation else { return false }
        let json = try record.json()
        let folder = user.dictionaries(of: generation)
        guard folder.exists, body.count + json.count <= limit.bytesMax,
            json.count <= DictionaryFolder.recordBytesMax,
            !record.dictionary.cameStale || !hasBetter(than: record.dictionary)
        else { return false }
        do {
            try folder.keep(record.dictionary, json: json, body)
        } catch {
            // All were removed in the meantime.
            guard folder.exists else { return false }
            throw error
        }
        limit.apply()
        return folder.exists && !record.dictionary.cameStale
    }

    /// Removes a dictionary that was found here; a newer one with the same match stays.
    package func remove(_ dictionary: CachedDictionary) { current?.folder.remove(dictionary) }

    package func removeAll(of origin: String) {
        for record in records() where record.dictionary.url.hasPrefix(origin + "/") {
            remove(record.dictionary)
        }
    }

    /// Removes all; responses to earlier requests are not kept.
    package func removeAll() {
        user.remove()
        current = nil
    }

    private func records() -> [ClientRecord] {
        find()
        return current?.folder.records() ?? []
    }

    /// Returns true if another dictionary with the same match may be named.
    private func hasBetter(than stale: CachedDictionary) -> Bool {
        records().map(\.dictionary).contains {
            $0.key == stale.key && $0.digest != stale.digest && $0.isUsable(at: stale.storedAt / 1000)
        }
    }

    private func load(_ dictionary: CachedDictionary) -> VerifiedDictionary? {
        current?.folder.load(dictionary)
    }

    /// Looks for the current generation, unless the one that is known still exists.
    private func find() {
        guard current?.folder.exists != true else { return }
        current = user.generation.map { ($0, user.dictionaries(of: $0)) }
    }
}
