import Foundation
import Glibc
import Primitives
import Synchronization
import TestSupport

/// A network between a client and a port of this machine, which may drop everything without a word.
final class Relay: Sendable {
    private let listener: WireListener
    private let isDropping = Atomic<Bool>(false)
    private let isOver = Atomic<Bool>(false)

    var port: UInt16 { listener.port }

    /// True while bytes vanish in both directions; connections made meanwhile vanish too.
    var drops: Bool {
        get { isDropping.load(ordering: .relaxed) }
        set { isDropping.store(newValue, ordering: .relaxed) }
    }

    init(to port: UInt16) throws {
        listener = try WireListener()
        Thread.detachNewThread { [listener, weak self] in
            while let client = try? listener.accept(milliseconds: -1) {
                guard let self else { return }
                guard !self.drops, let server = try? WireSocket(port: port) else {
                    self.swallow(client)
                    continue
                }
                self.pump(client, server)
                self.pump(server, client)
            }
        }
    }

    deinit { shutdown(listener.descriptor, Int32(SHUT_RDWR)) }

    private func pump(_ source: WireSocket, _ target: WireSocket) {
        Thread.detachNewThread { [weak self] in
            while let bytes = source.receiveSome() {
                guard let self, !self.drops else { continue }
                guard target.send(bytes) else { break }
            }
            target.finish()
            source.finish()
        }
    }

    /// Keeps a connection open, and reads what comes.
    private func swallow(_ client: WireSocket) {
        Thread.detachNewThread { while client.receiveSome() != nil {} }
    }
}
