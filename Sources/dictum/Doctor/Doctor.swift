internal import Dictionaries
internal import DictionaryFiles
internal import HTTP

/// Requests a URL as browsers do, with and without a dictionary, in several orders; blocking.
///
/// It only observes. `Diagnosis` draws the conclusions.
struct Doctor: Sendable {
    /// The codings of a browser, which names dcb and dcz only beside a dictionary.
    private static let accepted = CodingList(codings: [.gzip, .br, .zstd, .dcb, .dcz])
    /// The size of the dictionary that only this client has.
    private static let unknownBytes = 1024

    private let url: FetchURL
    let deadline: FetchDeadline
    private let system: FetchClient
    private let own: FetchClient?
    private let fields: RequestFields
    private let content: FetchContent
    /// The page that fetches the URL; nil if it is of the same origin.
    private let page: FetchURL?

    /// The versions of HTTP from which servers choose.
    private let protocols: HTTPProtocols

    /// Makes a doctor for one URL; it also trusts the authorities in a PEM file.
    init(
        url: FetchURL, protocols: HTTPProtocols, authority: String?, secondsMax: Int,
        fields: RequestFields = RequestFields(), content: FetchContent = FetchContent(),
        page: FetchURL? = nil
    ) throws(FetchError) {
        self.url = url
        self.protocols = protocols
        self.fields = fields
        self.content = content
        self.page = page
        deadline = FetchDeadline(seconds: secondsMax) { Signals.hasPendingEnd }
        system = try FetchClient(protocols, for: url)
        own = try (url.isTLS ? authority : nil).map { file throws(FetchError) in
            try FetchClient(protocols, for: url, trusting: file)
        }
    }

    func examine() -> DoctorObservations {
        var seen = DoctorObservations(url: url, method: content.method, transport: transport)
        seen.offersHTTP2 = protocols.contains(.http2)
        seen.credentials = fields.knownCredentials
        if let page { seen.page = PageOrigin(of: page, fetching: url) }
        do throws(FetchError) {
            let client = try connect(&seen)
            try repeatAsNavigation(&seen, by: client)
            try probeDictionary(&seen, by: client)
        } catch {
            seen.failure = error
        }
        return seen
    }

    /// Returns the public key of a server whose certificate leads to the given authority; nil without TLS.
    ///
    /// A browser that accepts this key trusts no server that this doctor does not trust.
    func serverKey(of url: FetchURL) throws(FetchError) -> [UInt8]? {
        guard url.isTLS, let own else { return nil }
        return try send(FetchVisit(url: url, accepted: Self.accepted), by: own, isDocument: true).serverKey
    }

    private var transport: DoctorFinding {
        if TargetURI.isLoopback(url.host) { return .loopback }
        return url.isTLS ? .systemAuthority : .insecureTransport
    }

    /// Fetches the URL once and returns the client for the other requests; tries the system's authorities first.
    private func connect(_ seen: inout DoctorObservations) throws(FetchError) -> FetchClient {
        do throws(FetchError) {
            try probe(.nothing, &seen, by: system)
            return system
        } catch .exchange(.handshakeFailed(.certificate(let why))) {
            do throws(FetchError) {
                guard let own else { throw .exchange(.handshakeFailed(.certificate(why))) }
                try probe(.nothing, &seen, by: own)
                if seen.transport != .loopback { seen.transport = .privateAuthority }
                return own
            } catch .exchange(.handshakeFailed(.certificate(let why))) {
                seen.transport = .untrusted(why)
                throw .exchange(.handshakeFailed(.certificate(why)))
            }
        }
    }

    /// Requests a document again as a navigation, since a server may respond to that differently.
    private func repeatAsNavigation(
        _ seen: inout DoctorObservations, by client: FetchClient
    ) throws(FetchError) {
        let type = seen.probes.first?.response.head.headers.first(.contentType)?.lowercased() ?? ""
        guard page == nil, content.method == .get,
            type.hasPrefix("text/html") || type.hasPrefix("application/xhtml+xml")
        else { return }
        seen.isDocument = true
        seen.probes = []
        try probe(.nothing, &seen, by: client)
    }

    private func probeDictionary(_ seen: inout DoctorObservations, by client: FetchClient) throws(FetchError)
    {
        guard let first = seen.probes.first, first.isOK, let body = first.decoded else { return }
        seen.dictionary = DoctorDictionary(
            source: .own, url: url, response: first.response, body: body, isOfGET: content.method == .get)
        if seen.dictionary?.field == nil { follow(first.response, &seen, by: client) }
        guard let dictionary = seen.dictionary else { return }
        let held = dictionary.held
        try probe(.held, &seen, by: client, held)
        try probe(.nothing, &seen, by: client)
        try probe(.unknown, &seen, by: client, Self.unknown())
        try probe(.held, &seen, by: client, held)
        try probe(.nothing, &seen, by: client)
        // Caches in between keep responses to GET only.
        guard content.method == .get else { return }
        try probeWithDictionaryFirst(&seen, dictionary, by: client)
        if seen.needsTwin { try probeTwin(&seen, by: client) }
    }

    /// Fetches the twin URL as a page may, and the URL as a browser does that keeps its response.
    private func probeTwin(_ seen: inout DoctorObservations, by client: FetchClient) throws(FetchError) {
        let twin = try FetchURL(url.origin + DictionaryPath.twin(of: url.pathAndQuery))
        let visit = FetchVisit(url: twin, accepted: Self.accepted, fields: fields)
        let response = try send(visit, by: client)
        guard response.head.status == .ok, let body = try? visit.body(of: response) else { return }
        let dictionary = DoctorDictionary(source: .twin, url: twin, response: response, body: body)
        guard dictionary.isFor(url), dictionary.judgement.unkept == nil else { return }
        let later = FetchVisit(url: url, accepted: Self.accepted, offered: dictionary.held, fields: fields)
        let probe = DoctorProbe(.held, later, try send(later, by: client))
        if probe.isDelta, probe.decoded != nil { seen.twin = dictionary }
    }

    /// Offers the dictionary at a URL that no cache has seen, before a request without one; only if the match
    /// covers such a URL.
    private func probeWithDictionaryFirst(
        _ seen: inout DoctorObservations, _ dictionary: DoctorDictionary, by client: FetchClient
    ) throws(FetchError) {
        let mark = "dictum-doctor=\(UInt32.random(in: 0 ... .max))"
        let other = try FetchURL(url.text + (url.query == nil ? "?" : "&") + mark)
        guard dictionary.isFor(other) else { return }
        let before = seen.probes.count
        try probe(.held, &seen, at: other, by: client, dictionary.held)
        try probe(.nothing, &seen, at: other, by: client)
        // A server may not know that URL; its response then says nothing about the examined one.
        if !seen.probes[before...].allSatisfy(\.isOK) { seen.probes.removeSubrange(before...) }
    }

    private func probe(
        _ offer: DoctorProbe.Offer, _ seen: inout DoctorObservations, at other: FetchURL? = nil,
        by client: FetchClient, _ dictionary: VerifiedDictionary? = nil
    ) throws(FetchError) {
        let visit = FetchVisit(
            url: other ?? url, accepted: Self.accepted, offered: dictionary, fields: fields, content: content
        )
        let response = try send(visit, by: client, isDocument: seen.isDocument)
        seen.probes.append(DoctorProbe(offer, visit, response))
    }

    private func send(
        _ visit: FetchVisit, by client: FetchClient, isDocument: Bool = false
    ) throws(FetchError) -> FetchResponse {
        let endpoints = try visit.url.endpoints(until: deadline)
        var request = try visit.request()
        if isDocument {
            // These are the fields of a navigation whose address was typed.
            request.headers.append(.secFetchSite, "none")
            request.headers.append(.secFetchMode, "navigate")
            request.headers.append(.secFetchDest, "document")
        } else {
            // These are the fields of a fetch() by a page.
            let origin = page.map { PageOrigin(of: $0, fetching: url) } ?? .sameOrigin
            request.headers.append(.secFetchSite, origin.rawValue)
            request.headers.append(.secFetchMode, "cors")
            request.headers.append(.secFetchDest, "empty")
            if let page, origin != .sameOrigin { request.headers.append(.origin, page.origin) }
        }
        return try client.send(request, visit.content.bytes, to: endpoints, deadline: deadline)
    }

    /// Fetches the dictionary that a response names by Link, as browsers do for documents.
    private func follow(_ response: FetchResponse, _ seen: inout DoctorObservations, by client: FetchClient) {
        guard let written = LinkField.dictionaryTargets(response.head.headers.values(.link)).first else {
            return
        }
        do throws(FetchError) {
            guard let target = FetchURL(written, relativeTo: url), target.origin == url.origin else {
                seen.unlinked = (written, "it is not a URL of the same origin")
                return
            }
            let visit = FetchVisit(url: target, accepted: Self.accepted, fields: fields)
            let response = try send(visit, by: client)
            guard response.head.status == .ok else {
                seen.unlinked = (written, "the response is \(response.head.status.rawValue)")
                return
            }
            seen.dictionary = DoctorDictionary(
                source: .linked(written), url: target, response: response, body: try visit.body(of: response))
        } catch {
            seen.unlinked = (written, "\(error)")
        }
    }

    private static func unknown() -> VerifiedDictionary {
        let bytes = (0..<unknownBytes).map { _ in UInt8.random(in: 0 ... .max) }
        return VerifiedDictionary(Body(bytes))
    }
}
