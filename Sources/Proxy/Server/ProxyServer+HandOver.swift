internal import Dictionaries
internal import Dispatch
package import HTTP
internal import Primitives

extension ProxyServer {
    /// Returns every listening socket in the order of the listeners, the admin listener's last.
    ///
    /// Blocks. The sockets stay open while they are referenced, so release them soon.
    package func listeningSockets() -> [ListeningSocket] {
        let found = Guarded<[(listener: Int, sockets: [ListeningSocket])]>([])
        let asked = DispatchGroup()
        for part in parts {
            asked.enter()
            part.loop.execute { core in
                let own = core.handler(part.token, as: ProxyLoop.self)?.sockets ?? [:]
                found.withLock { $0 += own.map { ($0.key, $0.value) } }
                asked.leave()
            }
        }
        askAdmin(asked) { sockets in found.withLock { $0.append((.max, sockets)) } }
        asked.wait()
        var seen: Set<ObjectIdentifier> = []
        return found.withLock { $0 }.sorted { $0.listener < $1.listener }.flatMap(\.sockets)
            .filter { seen.insert(ObjectIdentifier($0)).inserted }
    }
}
