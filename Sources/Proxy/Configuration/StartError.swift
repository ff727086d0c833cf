/// The reason why the proxy could not start or adopt another configuration.
package enum StartError: Error, Equatable, CustomStringConvertible {
    /// An address is in use, foreign, or invalid.
    case cannotListen(String, String)
    /// The path of a Unix socket is that of another file.
    case noSocket(String)
    case tls(String, String)
    case upstreamTLS(String, setting: String)
    /// No listener has the addresses of these inherited sockets.
    case unclaimedSockets([String])
    /// An inherited descriptor is not a listening socket.
    case wrongInheritance(String)
    case unknownUpstream(String, setting: String = "upstream")
    /// The upstream is one of the proxy's own listeners.
    case ownUpstream(String, listener: String, setting: String = "upstream")
    case accessLog(String, String)
    case store(String)
    /// These settings cannot change in a reload.
    case needsRestart([String])

    /// The description for command lines that use options instead of a configuration file.
    package var textForOptions: String {
        switch self {
        case .cannotListen(let address, let why):
            "cannot listen on \(address): \(why); choose another address with --listen, or stop the process using it"
        case .ownUpstream(let url, let listener, _):
            "--upstream \(url) leads to \(listener), where this proxy itself listens; give the address of the API, or "
                + "another --listen"
        case .unknownUpstream(let host, _):
            "the upstream's name \(host) has no address; check --upstream and the name service"
        default: description
        }
    }

    package var description: String {
        switch self {
        case .cannotListen(let address, let why):
            "cannot listen on \(address): \(why); choose another address in `listeners` or `admin`, whichever has this one, "
                + "or stop the process using it"
        case .noSocket(let address):
            "cannot listen on \(address): the file there is no socket; remove it, or choose another path"
        case .tls(let address, let why):
            "cannot speak TLS on \(address): \(why); check `tls` of this listener"
        case .upstreamTLS(let why, let setting):
            "cannot speak TLS to the upstream: \(why); check `\(setting).tls`"
        case .unclaimedSockets(let sockets):
            "started with sockets that are in no listener: \(sockets.joined(separator: ", ")); add their addresses to "
                + "`listeners`, as the socket unit has them, or take them out of that"
        case .unknownUpstream(let host, let setting):
            "the upstream's name \(host) has no address; check `\(setting).urls` and the name service"
        case .ownUpstream(let url, let listener, let setting):
            "the upstream \(url) leads to \(listener), where this proxy itself listens; check `\(setting).urls` and `listeners`"
        case .accessLog(let path, let why):
            "cannot open the access log \(path): \(why); check `log.access.file`"
        case .wrongInheritance(let why), .store(let why):
            why
        case .needsRestart(let settings):
            "a change of \(settings.joined(separator: ", ")) needs a restart"
        }
    }
}
