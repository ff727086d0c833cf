/// Why the proxy could not start, or not go on with another configuration.
package enum StartError: Error, Equatable, CustomStringConvertible {
    /// An address is taken, not ours, or none.
    case cannotListen(String, String)
    /// The TLS of a listener cannot be set up.
    case tls(String, String)
    /// The TLS to the upstream cannot be set up.
    case upstreamTLS(String)
    /// Sockets that the process was started with, at addresses that no listener has.
    case unclaimedSockets([String])
    /// What the process was started with is no listening socket.
    case wrongInheritance(String)
    /// The upstream's name has no address.
    case unknownUpstream(String)
    /// An upstream is one of the proxy's own listeners.
    case ownUpstream(String, listener: String)
    /// The store refuses to be opened.
    case store(String)
    /// Settings that no reload can change.
    case needsRestart([String])

    /// The error for one who gave no file, but options.
    package var textForOptions: String {
        switch self {
        case .cannotListen(let address, let why):
            "cannot listen on \(address): \(why); choose another address with --listen, or stop the process using it"
        case .ownUpstream(let url, let listener):
            "--upstream \(url) leads to \(listener), where this proxy itself listens; give the address of the API, or "
                + "another --listen"
        default: description
        }
    }

    package var description: String {
        switch self {
        case .cannotListen(let address, let why):
            "cannot listen on \(address): \(why); choose another address in `listeners` or `admin`, whichever has this one, "
                + "or stop the process using it"
        case .tls(let address, let why):
            "cannot speak TLS on \(address): \(why); check `tls` of this listener"
        case .upstreamTLS(let why):
            "cannot speak TLS to the upstream: \(why); check `upstream.tls`"
        case .unclaimedSockets(let sockets):
            "started with sockets that are in no listener: \(sockets.joined(separator: ", ")); add their addresses to "
                + "`listeners`, as the socket unit has them, or take them out of that"
        case .wrongInheritance(let why):
            why
        case .unknownUpstream(let host):
            "the upstream's name \(host) has no address; check `upstream.urls` and the name service"
        case .ownUpstream(let url, let listener):
            "the upstream \(url) leads to \(listener), where this proxy itself listens; check `upstream.urls` and `listeners`"
        case .store(let why):
            why
        case .needsRestart(let settings):
            "a change of \(settings.joined(separator: ", ")) needs a restart"
        }
    }
}
