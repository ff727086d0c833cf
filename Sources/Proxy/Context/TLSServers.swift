internal import Dictionaries
internal import HTTP
internal import Storage

/// The TLS servers of the listeners of one configuration.
///
/// Safe from any thread.
final class TLSServers: Sendable {
    /// The servers by the addresses of their listeners.
    private let servers: [ConfiguredAddress: TLSServer]

    /// Reads the certificate files of every TLS listener.
    init(_ listeners: [Configuration.Listener], ticketKeys: TLSTicketKeys) throws(StartError) {
        var servers: [ConfiguredAddress: TLSServer] = [:]
        for listener in listeners {
            guard let tls = listener.tls else { continue }
            do throws(TLSError) {
                servers[listener.address] = try TLSServer(
                    tls.settings(listener.protocols), ticketKeys: ticketKeys)
            } catch {
                throw .tls(listener.address.description, error.text)
            }
        }
        self.servers = servers
    }

    /// Returns the TLS server of the listener at an address, or nil for plain text.
    subscript(address: ConfiguredAddress) -> TLSServer? { servers[address] }

    /// The end of the certificates' validity in seconds since 1970, by listener; of several certificates, the first end.
    var ends: [(listener: String, seconds: Int)] {
        servers.map { ($0.key.description, $0.value.current.endSeconds) }.sorted { $0.listener < $1.listener }
    }

    /// Reloads certificates that have changed on disk; blocks.
    func refresh(_ report: (OperatorEvent) -> Void) {
        for (address, server) in servers {
            switch server.refresh() {
            case .unchanged: break
            case .read:
                report(.info("\(address): the certificates have changed, and new connections get them"))
            case .refused(let error):
                report(.error("\(address): tls: \(error.text); keeping the current certificate"))
            }
        }
    }
}
