internal import Dictionaries
internal import DictionaryFiles
internal import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

extension ClientExchange {
    /// Has the dictionaries fetched that a response of the app names.
    func followLinks(of response: OpenResponse) async {
        // What a Link names is for no operation, and a request for one would not name it.
        guard response.mayKeep, operation == nil, let url = response.request.url,
            let generation = response.generation
        else { return }
        let lines = response.head.lines("link")
        func resolve(_ text: String) -> (location: URL, target: TargetURI)? {
            let linked = URL(string: text, relativeTo: url)?.absoluteURL
            guard let linked, let target = ClientRequest.target(of: linked) else { return nil }
            return (linked, target)
        }
        let linked = DictionaryLinks.named(
            by: lines, status: response.head.status, of: response.visit.target, resolve: resolve)
        for (url, target) in linked {
            guard await !dictionaries.hasUsable(target, at: Self.now / 1000) else { continue }
            await dictionaries.linked.add(url) { await fetchLinked($0, generation: generation) }
        }
    }

    /// Fetches a dictionary for later requests; a failure is an event for the app, and returns false.
    private func fetchLinked(_ url: URL, generation: Int) async -> Bool {
        // After a log-out nobody needs it.
        guard await options.mayFetchLinked(url), await dictionaries.generation == generation,
            let target = ClientRequest.target(of: url)
        else { return true }
        var exchange = self
        exchange.isOfLink = true
        // A longer body could not be kept.
        exchange.options.bodyBytesMax = min(options.bodyBytesMax, options.dictionaryBytesMax)
        do {
            _ = try await exchange.collect(.ofLink(url))
        } catch {
            options.onEvent(.notKept(url, cause: "\(error)"))
        }
        return await dictionaries.hasUsable(target, at: Self.now / 1000)
    }
}

extension URLRequest {
    /// A request for a dictionary that a Link names: without credentials, and of no hurry.
    fileprivate static func ofLink(_ url: URL) -> URLRequest {
        var request = URLRequest(url: url)
        request.httpShouldHandleCookies = false
        #if !canImport(FoundationNetworking)
        request.networkServiceType = .background
        request.allowsExpensiveNetworkAccess = false
        request.allowsConstrainedNetworkAccess = false
        #endif
        return request
    }
}
