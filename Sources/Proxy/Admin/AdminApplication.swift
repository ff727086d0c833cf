internal import Dispatch
internal import HTTP

/// The admin listener: `/healthz`, `/readyz`, `/metrics`, `/report`, and the switch under `/dictionaries`.
///
/// It has its own loop, so that it responds while another loop is stuck. Probes need no credentials; `AdminGuard`
/// checks all other requests.
final class AdminApplication: Application {
    /// The resources of the listener.
    private enum Resource: String {
        case health = "/healthz"
        case readiness = "/readyz"
        case metrics = "/metrics"
        case report = "/report"
        case dictionaries = "/dictionaries"
        case dictionariesOff = "/dictionaries/off"
        case dictionariesOn = "/dictionaries/on"

        var isChange: Bool { self == .dictionariesOff || self == .dictionariesOn }
        var isProbe: Bool { self == .health || self == .readiness }
    }

    private let status: AdminStatus
    private let core: EventLoop.Core
    private let pulse: LoopPulse
    /// Runs scrapes, because they wait for all loops and read system files.
    private let queue = DispatchQueue(label: "dictum.admin")

    init(status: AdminStatus, pulse: LoopPulse, core: EventLoop.Core) {
        self.status = status
        self.pulse = pulse
        self.core = core
    }

    func begin(
        _ head: consuming RequestHead, framing: BodyFraming, on stream: any ResponseStream
    ) -> any RequestHandler {
        let head = head
        let exchange = AdminExchange(stream, isHead: head.method == .head)
        do throws(AdminRefusal) {
            try begin(head, framing, exchange, peer: stream.peer)
        } catch {
            exchange.answer(AdminResponse(error, accept: head.headers.joined(.accept)))
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
        guard let resource = Resource(rawValue: head.target.path) else {
            throw AdminRefusal(.notFound, "There are /healthz, /readyz, /metrics, /report and /dictionaries.")
        }
        let isRead = head.method == .get || head.method == .head
        guard resource.isChange ? head.method == .post : isRead else {
            throw AdminRefusal(
                .methodNotAllowed, "The method is not supported here.",
                (.allow, resource.isChange ? "POST" : "GET, HEAD"))
        }
        if !resource.isProbe,
            let refusal = AdminGuard.refusal(
                head, peer: peer, token: status.token, isChange: resource.isChange)
        {
            throw refusal
        }
        guard resource.isChange else { return answer(resource, exchange) }
        let accept = head.headers.joined(.accept)
        exchange.whenWhole(framing, head) { [status] in
            do throws(AdminRefusal) {
                return try Self.turn(resource, status)
            } catch {
                return AdminResponse(error, accept: accept)
            }
        }
    }

    private func answer(_ resource: Resource, _ exchange: AdminExchange) {
        switch resource {
        case .health: answerHealth(exchange)
        case .readiness:
            exchange.answer(
                status.unreadiness.map { AdminResponse(.serviceUnavailable, $0) }
                    ?? AdminResponse(.ok, "ready"))
        case .metrics:
            answerLater(exchange) {
                AdminResponse(.ok, MetricSample.text($0.samples()), contentType: MetricSample.contentType)
            }
        case .report:
            answerLater(exchange) { AdminResponse(.ok, $0.reportJSON, contentType: "application/json") }
        case .dictionaries, .dictionariesOn, .dictionariesOff: exchange.answer(Self.state(status))
        }
    }

    private static func turn(_ resource: Resource, _ status: AdminStatus) throws(AdminRefusal)
        -> AdminResponse
    {
        let isOff = resource == .dictionariesOff
        guard isOff || status.areDictionariesConfigured else {
            throw AdminRefusal(
                .conflict, "The configuration says dictionaries: off; change it and reload (SIGHUP).")
        }
        status.switchDictionaries(off: isOff)
        return state(status)
    }

    /// Returns the state of the switch and of the configuration.
    private static func state(_ status: AdminStatus) -> AdminResponse {
        let isOn = status.areDictionariesOn
        let isConfigured = status.areDictionariesConfigured
        let text =
            #"{"dictionaries":"\#(isOn ? "on" : "off")","configured":"\#(isConfigured ? "on" : "off")"}"#
        return AdminResponse(.ok, text + "\n", contentType: "application/json")
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

    /// Answers with what another thread makes.
    private func answerLater(
        _ exchange: AdminExchange, _ make: @escaping @Sendable (AdminStatus) -> AdminResponse
    ) {
        let token = core.add(exchange)
        exchange.token = token
        let loop = core.loop
        queue.async { [status] in
            let answer = make(status)
            loop.execute { core in core.handler(token, as: AdminExchange.self)?.answer(answer) }
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

    /// Replaces the listening socket, or removes it if `socket` is nil.
    func listen(at socket: ListeningSocket?, _ core: EventLoop.Core) {
        if let former = listener {
            leaving.append(former)
            former.stop(core) { [unowned self, unowned former] in leaving.removeAll { $0 === former } }
        }
        listener = socket.map { socket in
            var settings = ServerSettings()
            settings.connectionsMax = 64
            settings.protocols = .http1
            return Listener(
                sockets: [socket], application: AdminApplication(status: status, pulse: pulse, core: core),
                settings: settings, count: ConnectionCount())
        }
        listener?.start(on: core)
    }
}
