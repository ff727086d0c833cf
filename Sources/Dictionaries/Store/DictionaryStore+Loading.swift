internal import Dispatch

extension DictionaryStore {
    /// How many different bodies may wait to be read, and how many callers for one of them.
    private static let loadsMax = 1024

    /// Reads a body from disk, verified against its digest, and keeps it hot; once, however many ask for it.
    ///
    /// `completion` runs on the store's read queue and must be short: it gets nil if the body cannot be had. A
    /// body that is damaged takes its versions out of the index.
    package func load(_ version: Version, completion: @escaping @Sendable (Body?) -> Void) {
        enum Turn { case first, waits, refused }
        let name = version.bodyName
        let turn: Turn = loads.withLock { loads in
            guard let waiting = loads[name] else {
                guard loads.count < Self.loadsMax else { return .refused }
                loads[name] = [completion]
                return .first
            }
            guard waiting.count < Self.loadsMax else { return .refused }
            loads[name]?.append(completion)
            return .waits
        }
        switch turn {
        case .waits: return
        case .refused: readQueue.async { completion(nil) }
        case .first: readQueue.async { self.finishLoad(name) }
        }
    }

    private func finishLoad(_ name: BodyName) {
        let body = hot.withLock { $0.body(name) } ?? read(name)
        let waiting = loads.withLock { $0.removeValue(forKey: name) } ?? []
        counters.withLock { counters in
            counters.loads += 1
            if body == nil { counters.loadFailures += 1 }
        }
        for completion in waiting { completion(body) }
    }

    private func read(_ name: BodyName) -> Body? {
        guard let database = disk.withLock({ $0.database }) else { return nil }
        do {
            guard let bytes = try database.body(name) else {
                // Another process may have removed it just now, which is soon known here too; but not of private
                // ones, which the feed of changes does not tell of.
                let versions = versions(of: name)
                if try database.hasAny(of: versions.map(\.id)) {
                    giveUp(name, because: "it is not there")
                } else if name.scope != .public {
                    evict(versions, reason: .removed)
                }
                return nil
            }
            let body = Body(bytes)
            guard name.scope.name(of: body.digest, configuration.keys) == name.digest else {
                giveUp(name, because: "its bytes do not match its digest")
                return nil
            }
            hot.withLock { $0.keep(body, as: name) }
            return body
        } catch .damaged(let reason), .failing(let reason) {
            giveUp(name, because: reason)
        } catch {
            reports.unreadable("a body in \(configuration.path) could not be read for now: \(error)")
        }
        return nil
    }

    private func giveUp(_ name: BodyName, because reason: String) {
        guard evict(versions(of: name), reason: .damaged) > 0 else { return }
        reports.unreadable(
            "a body in \(configuration.path) was lost and is no longer used: \(reason); "
                + "check the disk if this repeats")
    }

    private func versions(of name: BodyName) -> [Version] {
        publisher.index.allVersions().filter { $0.bodyName == name }
    }
}
