internal import ArgumentParser
internal import Foundation
internal import HTTP
internal import Proxy

/// The options that name the admin listener of a running proxy.
struct AdminOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The configuration file of the running proxy, for the address and the token of its admin listener.",
            valueName: "file"))
    var config: String?

    @Option(
        help: ArgumentHelp(
            "The URL of the admin listener, or unix:/path (default: http://127.0.0.1:9901). DICTUM_ADMIN_TOKEN is its token, if set.",
            valueName: "url"))
    var admin: String?

    func validate() throws {
        guard config == nil || admin == nil else {
            throw ValidationError("expected either --config FILE or --admin URL")
        }
    }

    func client() throws -> AdminClient {
        var client = try Self.client(config: config, admin: admin)
        if config == nil { client.tokenRemedy += ", or name the proxy's --config FILE" }
        return client
    }

    /// Returns a client of the admin listener that a file or a URL names.
    static func client(config: String?, admin: String?) throws -> AdminClient {
        guard let config else {
            let token = ProcessInfo.processInfo.environment["DICTUM_ADMIN_TOKEN"]
            var client = try AdminClient(admin ?? AdminClient.standardURL, token: token)
            client.isNamed = admin != nil
            return client
        }
        guard let listener = try StoreSource.read(config).admin else {
            StandardError.write("dictum: \(config) has no admin listener: take out admin: off")
            throw ExitCode.invalidConfiguration
        }
        return try AdminClient(listener)
    }
}

struct AdminClient {
    static let standardURL = "http://127.0.0.1:9901"
    private static var deadline: FetchDeadline { FetchDeadline(seconds: 30, isOption: false) }

    private let client: FetchClient
    private let endpoints: [Endpoint]
    private let authority: String
    private let token: String?
    /// False if the user named neither a configuration nor a listener.
    fileprivate(set) var isNamed = true
    fileprivate(set) var tokenRemedy = "; set DICTUM_ADMIN_TOKEN"

    /// Asks at a URL, or at the address of a Unix socket as the configuration has it.
    init(_ url: String, token: String?) throws(FetchError) {
        self.token = token
        if case .unix(let path)? = ConfiguredAddress(url) {
            (endpoints, authority) = ([.unix(path: path)], "localhost")
            client = try FetchClient(.http1)
        } else {
            let url = try FetchURL(url)
            (endpoints, authority) = (try url.endpoints(until: Self.deadline), url.authority)
            client = try FetchClient(.http1, for: url)
        }
    }

    /// Asks at the address of a configuration, from this machine.
    init(_ admin: Configuration.Admin) throws(FetchError) {
        var url = admin.address.description
        if case .tcp(let host, let port) = admin.address {
            // The addresses that stand for all lead here.
            let reached = ["0.0.0.0": "127.0.0.1", "::": "::1"][host] ?? host
            url = "http://\(ConfiguredAddress.tcp(host: reached, port: port))"
        }
        try self.init(url, token: admin.tokenInUse)
    }

    func report() throws(CommandError) -> SavingsReport { try ask(.get, "/report") }

    /// Has the proxy remove the versions that a query names.
    func purge(_ query: String) throws(CommandError) -> PurgeReport { try ask(.post, "/purge?\(query)") }

    private func ask<Result: Decodable>(_ method: HTTP.Method, _ path: String) throws(CommandError) -> Result
    {
        let body = try send(method, path)
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        guard let result = try? decoder.decode(Result.self, from: Data(body)) else {
            throw CommandError(
                "the response at \(authority) is not that of an admin listener of this version: give the URL of admin.address, "
                    + "and use the same dictum for both"
            )
        }
        return result
    }

    private func send(_ method: HTTP.Method, _ path: String) throws(CommandError) -> [UInt8] {
        guard let target = try? RequestTarget(path) else { throw CommandError("invalid path \(path)") }
        var headers = Headers()
        headers.append(.host, authority)
        if let token { headers.append(.authorization, "Bearer \(token)") }
        if method == .post { headers.append(.contentType, "application/json") }
        let response: FetchResponse
        do throws(FetchError) {
            response = try client.send(
                RequestHead(method: method, target: target, headers: headers), to: endpoints,
                deadline: Self.deadline)
        } catch {
            let remedy =
                isNamed
                ? "" : "; name the proxy's --config FILE, or the URL of its admin listener with --admin"
            throw CommandError("the admin listener at \(authority): \(error)\(remedy)")
        }
        // It has these paths, and no upstream: this is another server, or the proxy itself.
        guard
            ![300..<400, 404..<405, 500..<600].contains(where: { $0.contains(response.head.status.rawValue) })
        else {
            throw CommandError(
                "no admin listener of Dictum is at \(authority) (the response is \(response.head.status.rawValue)): give the "
                    + "URL of admin.address, and not that of the proxy")
        }
        guard response.head.status == .ok else {
            let text = String(decoding: response.body.prefix(300), as: UTF8.self)
                .trimmingCharacters(in: .whitespacesAndNewlines)
            // Dictum's own text begins with the status; another server's may not.
            let code = "\(response.head.status.rawValue)"
            let detail = OutputFormat.plain(text.hasPrefix(code) ? text : "\(code): \(text)")
            let remedy =
                [.unauthorized, .forbidden].contains(response.head.status) ? tokenRemedy : ""
            throw CommandError("the admin listener at \(authority) responds \(detail)\(remedy)")
        }
        return response.body
    }
}
