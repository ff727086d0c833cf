internal import Dispatch
internal import Foundation
internal import Glibc
internal import Primitives
internal import Proxy
internal import Storage

/// A proxy that serves until a signal ends it or another process takes over.
struct Service {
    let proxy: ProxyService
    /// The configuration file that SIGHUP reads again; nil without one.
    let config: String?
    private let events = ServeEvents()

    /// Returns when the last request is done or the drain has timed out; false if an event loop was stuck.
    func run() -> Bool {
        events.takeSignals()
        var isUpgrading = false
        while true {
            switch events.next() {
            case .signal(.end(let name)): return drain(name)
            case .signal(.reload) where config == nil: return drain("SIGHUP")
            case .signal(.reload): reload()
            case .signal(.reopenLog): proxy.reopenLog()
            case .signal(.upgrade) where isUpgrading:
                proxy.log.warning("SIGUSR2 again: the successor is still starting")
            case .signal(.upgrade): isUpgrading = startSuccessor()
            case .successor(.ready(let pid)): return handOver(to: pid)
            case .successor(.failed(let why)):
                isUpgrading = false
                proxy.log.error("the successor failed; this process continues: \(why)")
            }
        }
    }

    private func drain(_ signal: String) -> Bool {
        ServiceManager.notify(.stopping)
        proxy.log.info("\(signal): draining")
        stopAtOnce(afterSignals: 1)
        return proxy.stop()
    }

    private func handOver(to pid: pid_t) -> Bool {
        ServiceManager.notify(.succeeded(by: pid))
        proxy.log.info("process \(pid) has taken over: draining")
        // A service manager that stops both processes may send this one a signal too, so one signal is expected.
        stopAtOnce(afterSignals: 2)
        return proxy.stop(isHandedOver: true)
    }

    private func reload() {
        guard let config else { return }
        ServiceManager.notify(.reloading)
        proxy.log.info("SIGHUP: reading \(config)")
        proxy.reload(file: config, environment: ProcessInfo.processInfo.environment)
        ServiceManager.notify(.ready)
    }

    /// Starts the program as it is on disk now; returns true if a successor is starting.
    private func startSuccessor() -> Bool {
        do throws(CommandError) {
            let successor = try Successor(sockets: proxy.server.listeningSockets())
            proxy.log.info("SIGUSR2: started the successor, process \(successor.pid)")
            Thread.detachNewThread { [events] in events.post(.successor(successor.wait())) }
            return true
        } catch {
            proxy.log.error("cannot start the successor; this process continues: \(error)")
            return false
        }
    }

    /// Ends the drain at the first or second terminating signal.
    private func stopAtOnce(afterSignals count: Int) {
        Thread.detachNewThread { [events, proxy] in
            var left = count
            while left > 0 {
                guard case .signal(.end(let name)) = events.next() else { continue }
                left -= 1
                if left == 0 { proxy.log.warning("\(name) again: stopping at once") }
            }
            proxy.server.stopAtOnce()
        }
    }
}

/// The events of a running `serve` in their order: signals, and reports about a successor.
///
/// Safe from any thread.
final class ServeEvents: Sendable {
    enum Event: Sendable {
        case signal(Signals.Request)
        case successor(Successor.Outcome)
    }

    private let waiting = Guarded<[Event]>([])
    private let count = DispatchSemaphore(value: 0)

    /// Turns blocked signals into events from now on.
    func takeSignals() {
        Thread.detachNewThread { [self] in
            var ends = 0
            while true {
                let request = Signals.wait()
                post(.signal(request))
                guard case .end = request else { continue }
                ends += 1
                if ends == 2 { Self.endInAnyCase() }
            }
        }
    }

    /// Ends the process after a few seconds even if something is stuck.
    private static func endInAnyCase() {
        Thread.detachNewThread {
            Thread.sleep(forTimeInterval: lastSeconds)
            StandardError.write("dictum: stopping took too long; exiting with work unfinished", as: .error)
            StandardError.drain()
            _exit(1)
        }
    }

    /// Long enough to store what is pending; service managers wait longer.
    private static let lastSeconds = 8.0

    func post(_ event: Event) {
        waiting.withLock { $0.append(event) }
        count.signal()
    }

    func next() -> Event {
        while true {
            count.wait()
            if let event = waiting.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { return event }
        }
    }
}
