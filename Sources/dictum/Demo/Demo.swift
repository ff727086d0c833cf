internal import Dictionaries
internal import Foundation
internal import HTTP
internal import Proxy

/// An API that changes, Dictum before it, and a client that fetches version after version.
struct Demo {
    private let versions: DemoVersions
    private let origin: DemoOrigin
    private let service: ProxyService
    /// Where the proxy listens.
    let proxyURL: String

    /// Starts the API and the proxy.
    ///
    /// Without an address the proxy takes the usual ones, metrics included, or a port of its own where one is taken.
    init(_ versions: DemoVersions, listen: String?) throws {
        self.versions = versions
        origin = try DemoOrigin(versions)
        service = try Self.startProxy(before: origin, listen: listen)
        guard let endpoint = service.server.endpoints.first else {
            throw DemoError("the proxy listens nowhere; give --listen HOST:PORT")
        }
        proxyURL = endpoint.urlText
    }

    private static func startProxy(before origin: DemoOrigin, listen: String?) throws -> ProxyService {
        let wanted = try configuration(origin, listen: listen)
        do throws(StartError) {
            return try ProxyService(wanted, accessLog: false)
        } catch {
            guard case .cannotListen(let address, _) = error, listen == nil else { throw error }
            StandardError.write(
                "dictum: \(address) is taken: the demo listens elsewhere, without metrics (--listen chooses where)"
            )
            return try ProxyService(configuration(origin, listen: "127.0.0.1:0"), accessLog: false)
        }
    }

    private static func configuration(_ origin: DemoOrigin, listen: String?) throws(DemoError)
        -> Configuration
    {
        do throws(ConfigurationError) {
            var configuration = try Configuration.implied(
                upstream: origin.endpoint.urlText, listen: listen, store: ":memory:")
            if listen != nil { configuration.admin = nil }
            // The table is what is to be read.
            configuration.log.level = .warning
            // As many descriptors as any machine has.
            configuration.limits.connections = 100
            return configuration
        } catch {
            throw DemoError(error.lines(file: "command line").joined(separator: "; "))
        }
    }

    /// The URL of the feed, through the proxy.
    var feedURL: String { proxyURL + DemoApplication.path }

    /// Fetches version after version and prints what each cost; throws if any body is not the API's.
    func printTable() throws {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "dictum-demo-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let fetcher = try Fetcher(cache: DictionaryCache(directory: folder.path))
        let url = try FetchURL(feedURL)
        var table = DemoTable()
        StandardOutput.write(DemoTable.title)
        for number in 0..<versions.shownCount {
            let body = try origin.show(number)
            let fetched = try fetcher.fetch(url)
            guard fetched.body == body else {
                throw DemoError(
                    "fetch \(number + 1) brought another body than the API sent; please report this")
            }
            let row = DemoTable.Row(
                coding: fetched.report.coding, bodyBytes: body.count,
                gzipBytes: try Codec.encode(body.span, .gzip).count, wireBytes: fetched.report.wireBytes)
            StandardOutput.write(table.add(row))
        }
        StandardOutput.write(table.total)
        if let summary = table.summary { StandardOutput.write("\n" + summary) }
    }

    /// Lets the feed change every few seconds from now on.
    func keepChanging() { origin.keepChanging() }

    /// Ends the proxy and the API; blocks until they have.
    func stop() {
        service.stop()
        origin.stop()
    }
}
