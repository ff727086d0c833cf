internal import Dispatch
internal import HTTP
internal import Primitives

/// The admin listener: probes, metrics, the JSON API, the page that uses it, and the switch under `/dictionaries`.
///
/// It has its own loop, so that it responds while another loop is stuck. Probes and the page need no credentials;
/// `AdminGuard` checks all other requests.
final class AdminApplication: Application {
    private let status: AdminStatus
    private let api: AdminAPI
    private let core: EventLoop.Core
    private let pulse: LoopPulse
    /// Makes reports, because they wait for all loops and read system files.
    private let queue = DispatchQueue(label: "dictum.admin")
    /// Purges, because each may wait long for the disk and for other nodes, and a report must not wait for it.
    private let purges = DispatchQueue(label: "dictum.admin.purges")

    init(status: AdminStatus, pulse: LoopPulse, core: EventLoop.Core) {
        self.status = status
        api = AdminAPI(status: status)
        self.pulse = pulse
        self.core = core
    }

    func begin(
        _ head: consuming RequestHead, framing: BodyFraming, on stream: any ResponseStream
    ) -> any RequestHandler {
        let head = head
        let exchange = AdminExchange(stream, head)
        do throws(AdminRefusal) {
            try begin(head, framing, exchange, peer: stream.facts.peer)
        } catch {
            exchange.refuse(error)
        }
        return exchange
    }

    func refuse(_ refusal: Refusal, from peer: Endpoint?, send: (ResponseHead, [UInt8]) -> Int) {
        let (head, body) = ProblemResponse(refusal).rendered(accept: nil)
        _ = send(head, body)
    }

    private func begin(
        _ head: RequestHead, _ framing: BodyFraming, _ exchange: AdminExchange, peer: Endpoint?
    ) throws(AdminRefusal) {
        guard let resource = AdminResource(rawValue: head.target.path) else {
            throw AdminRefusal(.notFound, AdminResource.listed)
        }
        guard let isChange = resource.isChange(head.method) else {
            throw AdminRefusal(
                .methodNotAllowed, "The method is not supported here.", (.allow, resource.allow))
        }
        if !resource.isOpen,
            let refusal = AdminGuard.refusal(
                head, peer: peer, token: status.context.configuration.admin?.tokenInUse, isChange: isChange)
        {
            throw refusal
        }
        guard isChange else { return answer(resource, exchange) }
        exchange.whenWhole(framing, head) { [unowned self, unowned exchange] body in
            guard resource != .purge else { return answerLater(resource, exchange) }
            exchange.answer(
                exchange.request.response { () throws(AdminRefusal) in
                    try api.change(resource, body: body)
                })
        }
    }

    private func answer(_ resource: AdminResource, _ exchange: AdminExchange) {
        switch resource {
        case .page: exchange.answer(AdminPage.response)
        case .health: answerHealth(exchange)
        case .readiness:
            exchange.answer(
                status.unreadiness.map { AdminResponse(.serviceUnavailable, $0) }
                    ?? AdminResponse(.ok, "ready"))
        default: answerLater(resource, exchange)
        }
    }

    private func answerHealth(_ exchange: AdminExchange) {
        let token = core.add(exchange)
        exchange.token = token
        pulse.probe { [core] stuck in
            let answer =
                stuck.isEmpty
                ? AdminResponse(.ok, "ok")
                : AdminResponse(
                    .serviceUnavailable, "stuck: loop \(stuck.map(String.init).joined(separator: ", "))")
            core.handler(token, as: AdminExchange.self)?.answer(answer)
        }
    }

    private func answerLater(_ resource: AdminResource, _ exchange: AdminExchange) {
        let token = core.add(exchange)
        exchange.token = token
        let loop = core.loop
        let (isLost, request) = (exchange.isLost, exchange.request)
        (resource == .purge ? purges : queue).async { [api] in
            // Clients that gave up while others were served cost the next one no time.
            guard !isLost.withLock({ $0 }) else { return }
            let response = request.response { () throws(AdminRefusal) in
                try api.response(resource, request)
            }
            loop.execute { core in core.handler(token, as: AdminExchange.self)?.answer(response) }
        }
    }
}

/// The admin listener on its own loop.
final class AdminLoop: Handler {
    private let status: AdminStatus
    private let pulse: LoopPulse
    private var listener: Listener?
    /// Listeners that no longer accept but still finish their requests.
    private var leaving: [Listener] = []

    init(status: AdminStatus, core: EventLoop.Core) {
        self.status = status
        pulse = LoopPulse(status.loops, core: core)
    }

    var sockets: [ListeningSocket] { listener?.sockets ?? [] }

    /// Another machine cannot take all connections, so that probes get one; a /48 of IPv6 counts as one machine.
    private static var clientLimit: ClientConnectionLimit {
        ClientConnectionLimit(countMax: 16, count: ClientConnectionCount()) { peer in
            guard case .ip(let address, _)? = peer, !address.isLoopback else { return nil }
            return address.clientBits()
        }
    }

    /// Replaces the listening socket, or removes it if `socket` is nil.
    func listen(at socket: ListeningSocket?, _ core: EventLoop.Core) {
        if let former = listener {
            leaving.append(former)
            former.stop(core) { [unowned self, unowned former] in leaving.removeAll { $0 === former } }
        }
        listener = socket.map { socket in
            var settings = ServerSettings()
            settings.connectionsMax = 64
            settings.clientLimit = Self.clientLimit
            settings.protocols = .http1
            return Listener(
                sockets: [socket], application: AdminApplication(status: status, pulse: pulse, core: core),
                settings: settings, count: ConnectionCount())
        }
        listener?.start(on: core)
    }
}
