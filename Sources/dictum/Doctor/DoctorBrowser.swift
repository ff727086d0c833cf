internal import Dictionaries
internal import Foundation
internal import Glibc
internal import HTTP

/// A real Chromium that loads a page and lets it fetch a URL several times; blocking.
struct DoctorBrowser {
    struct Fetch: Encodable, Equatable, Sendable {
        /// The number of the fetch, from 1.
        let number: Int
        var status = 0
        /// True if the request named a dictionary.
        var advertised = false
        /// The coding of the body on the wire; identity if there was no coding or no body (304).
        var coding = "identity"
        /// The bytes on the wire, heads included.
        var wireBytes = 0
        /// The size of the decoded body.
        var bodyBytes = 0
        var error: String?

        var isDelta: Bool { error == nil && ContentCoding(rawValue: coding)?.usesDictionary == true }
    }

    struct Plan {
        let url: FetchURL
        let page: FetchURL
        var fetches = 5
        /// The time between two fetches.
        var pauseMilliseconds = 1_000
        var fields = RequestFields()
        /// The SHA-256 digests of public keys (SubjectPublicKeyInfo) that the browser accepts from any issuer.
        var trustedKeys: [Digest] = []
    }

    private static let names = [
        "chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "microsoft-edge",
    ]

    /// Returns the path of an installed Chromium; nil without one.
    static func find() -> String? {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
        return names.lazy.flatMap { name in folders.lazy.map { "\($0)/\(name)" } }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    private let plan: Plan
    private let deadline: FetchDeadline
    private let pipe: DevToolsPipe
    private let session: String

    /// Runs a plan in a browser with a temporary profile.
    static func run(
        _ program: String, _ plan: Plan, until deadline: FetchDeadline
    ) throws(CommandError) -> [Fetch] {
        let profile = FileManager.default.temporaryDirectory.appending(
            path: "dictum-doctor-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: profile) }
        var browser = try DoctorBrowser(program, plan, profile: profile.path, deadline)
        return try browser.fetchAll()
    }

    private init(
        _ program: String, _ plan: Plan, profile: String, _ deadline: FetchDeadline
    ) throws(CommandError) {
        var arguments = [
            "--headless=new", "--remote-debugging-pipe", "--user-data-dir=\(profile)", "--no-first-run",
            "--no-default-browser-check", "--disable-background-networking", "--disable-component-update",
            "--disable-sync", "--disable-gpu", "--disable-dev-shm-usage", "about:blank",
        ]
        // Chromium refuses to run sandboxed as root.
        if geteuid() == 0 { arguments.insert("--no-sandbox", at: 0) }
        if !plan.trustedKeys.isEmpty {
            let keys = plan.trustedKeys.map(\.base64).joined(separator: ",")
            arguments.insert("--ignore-certificate-errors-spki-list=\(keys)", at: 0)
        }
        self.plan = plan
        self.deadline = deadline
        pipe = try DevToolsPipe(program, arguments: arguments)
        let target = try pipe.call("Target.createTarget", ["url": "about:blank"], until: deadline)
        let attached = try pipe.call(
            "Target.attachToTarget", ["targetId": target["targetId"] ?? "", "flatten": true], until: deadline)
        guard let session = attached["sessionId"] as? String else {
            throw CommandError("the browser did not open a page")
        }
        self.session = session
    }

    private func call(
        _ method: String, _ parameters: [String: Any] = [:]
    ) throws(CommandError) -> [String: Any] {
        try pipe.call(method, parameters, session: session, until: deadline)
    }

    private mutating func fetchAll() throws(CommandError) -> [Fetch] {
        _ = try call("Network.enable")
        _ = try call("Page.enable")
        try setCookies()
        try loadPage()
        // A browser fetches the dictionaries that a page names by Link when it is idle.
        pause()
        var fetches: [Fetch] = []
        for number in 1...plan.fetches {
            if number > 1 { pause() }
            fetches.append(try fetch(number))
        }
        return fetches
    }

    private func pause() { usleep(UInt32(clamping: plan.pauseMilliseconds * 1000)) }

    private func setCookies() throws(CommandError) {
        for (_, value) in plan.fields.fields.filter({ $0.name == .cookie }) {
            for pair in value.split(separator: ";") {
                let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                guard parts.count == 2 else { continue }
                _ = try call(
                    "Network.setCookie",
                    ["name": parts[0].filter { $0 != " " }, "value": String(parts[1]), "url": plan.url.text])
            }
        }
    }

    private func loadPage() throws(CommandError) {
        let loaded = try call("Page.navigate", ["url": plan.page.text])
        switch loaded["errorText"] as? String {
        case nil: break
        // For an error response without a body the browser shows a page of its own, whose origin may not fetch
        // anything.
        case "net::ERR_HTTP_RESPONSE_CODE_FAILURE"?: return try loadEmptyPage()
        case let error?:
            throw CommandError("cannot load the page \(plan.page.text): \(error)")
        }
        _ = try wait(for: "Page.loadEventFired")
    }

    /// Loads an empty page in place of the server's.
    private func loadEmptyPage() throws(CommandError) {
        _ = try call("Page.navigate", ["url": "about:blank"])
        _ = try call("Fetch.enable", ["patterns": [["resourceType": "Document"]]])
        pipe.forgetEvents()
        _ = try call("Runtime.evaluate", ["expression": "location.href = \(Self.quoted(plan.page.text))"])
        let paused = try wait(for: "Fetch.requestPaused")
        let body = Array("<!doctype html>".utf8)
        _ = try call(
            "Fetch.fulfillRequest",
            [
                "requestId": paused.parameters["requestId"] ?? "", "responseCode": 200,
                "responseHeaders": [["name": "Content-Type", "value": "text/html"]],
                "body": Data(body).base64EncodedString(),
            ])
        _ = try wait(for: "Page.loadEventFired")
        _ = try call("Fetch.disable")
    }

    private func wait(for method: String) throws(CommandError) -> DevToolsPipe.Event {
        while let event = try pipe.nextEvent(until: deadline) {
            if event.method == method { return event }
        }
        throw CommandError(
            "loading the page \(plan.page.text) timed out; allow more time with --max-time, or choose another with --page"
        )
    }

    /// Lets the page fetch the URL past the browser's cache, and collects the browser's events about it.
    private func fetch(_ number: Int) throws(CommandError) -> Fetch {
        // These events belong to the page's own requests.
        pipe.forgetEvents()
        let credentials = plan.page.origin == plan.url.origin ? "same-origin" : "omit"
        // Only this request gets the fields: the page may load from any host.
        let fields = plan.fields.fields.filter { $0.name != .cookie }.map { [$0.name.text, $0.value] }
        let options =
            "{cache: \"no-cache\", credentials: \"\(credentials)\", headers: \(Self.quoted(fields))}"
        let script = """
            fetch(\(Self.quoted(plan.url.text)), \(options))
                .then((response) => response.arrayBuffer()).then((body) => body.byteLength, (error) => String(error))
            """
        let evaluated = try call(
            "Runtime.evaluate", ["expression": script, "awaitPromise": true, "returnByValue": true])
        var fetch = Fetch(number: number)
        let value = (evaluated["result"] as? [String: Any])?["value"]
        if let bytes = value as? Int {
            fetch.bodyBytes = bytes
        } else {
            fetch.error = value as? String ?? "failed"
        }
        var events = FetchEvents(url: plan.url.text, fetch)
        // The last events follow the body with a short delay.
        let end = FetchDeadline(seconds: fetch.error == nil ? 5 : 1, within: deadline)
        while !events.isComplete, let event = try pipe.nextEvent(until: end) { events.take(event) }
        return events.fetch
    }

    /// Returns a text, or an array of them, as a JavaScript literal.
    private static func quoted(_ value: Any) -> String {
        let data = try? JSONSerialization.data(withJSONObject: [value])
        return data.map { String(decoding: $0.dropFirst().dropLast(), as: UTF8.self) } ?? "\"\""
    }
}

/// The browser's events about the fetch of one URL, in any order.
private struct FetchEvents {
    let url: String
    private(set) var fetch: DoctorBrowser.Fetch
    private var id: String?
    private var hasRequestFields = false
    /// True if the head is known as it was on the wire, and not as the cache has it.
    private var hasWireHead = false
    private var hasEnd = false
    /// Request fields of requests whose URL is not known yet.
    private var fieldsByID: [String: [String: Any]] = [:]

    init(url: String, _ fetch: DoctorBrowser.Fetch) { (self.url, self.fetch) = (url, fetch) }

    /// True if nothing more is needed.
    var isComplete: Bool { hasEnd && hasRequestFields }

    mutating func take(_ event: DevToolsPipe.Event) {
        let parameters = event.parameters
        guard let id = parameters["requestId"] as? String else { return }
        switch event.method {
        case "Network.requestWillBeSent":
            let request = parameters["request"] as? [String: Any]
            guard request?["url"] as? String == url, request?["method"] as? String == "GET" else { return }
            self.id = id
            if let fields = fieldsByID[id] { takeRequest(fields) }
        case "Network.requestWillBeSentExtraInfo":
            let fields = parameters["headers"] as? [String: Any] ?? [:]
            fieldsByID[id] = fields
            if id == self.id { takeRequest(fields) }
        case "Network.responseReceived" where id == self.id:
            let response = parameters["response"] as? [String: Any]
            guard !hasWireHead else { return }
            fetch.status = response?["status"] as? Int ?? 0
            takeResponse(response?["headers"] as? [String: Any] ?? [:])
        case "Network.responseReceivedExtraInfo" where id == self.id:
            hasWireHead = true
            fetch.status = parameters["statusCode"] as? Int ?? fetch.status
            takeResponse(parameters["headers"] as? [String: Any] ?? [:])
        case "Network.loadingFinished" where id == self.id:
            fetch.wireBytes = (parameters["encodedDataLength"] as? NSNumber)?.intValue ?? 0
            hasEnd = true
        case "Network.loadingFailed" where id == self.id: hasEnd = true
        default: break
        }
    }

    private mutating func takeRequest(_ fields: [String: Any]) {
        hasRequestFields = true
        fetch.advertised = fields.keys.contains { $0.lowercased() == "available-dictionary" }
    }

    private mutating func takeResponse(_ fields: [String: Any]) {
        let field = fields.first { $0.key.lowercased() == "content-encoding" }
        fetch.coding = (field?.value as? String)?.lowercased() ?? "identity"
    }
}
