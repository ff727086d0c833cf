internal import Dictionaries
internal import DictionaryFiles
internal import Foundation
internal import HTTP
internal import Primitives

/// A client that follows the rules of RFC 9842; blocking.
struct Fetcher: Sendable {
    /// The time for all Links of a response.
    private static let linkSecondsMax = 10

    private let client: FetchClient
    private let store: FetchStore
    var accepted = CodingList.all
    var isVerbose = false
    var fields = RequestFields()
    var content = FetchContent()

    /// Makes a client for the origin of an https `url`, or for any http URL; servers choose from `protocols`.
    ///
    /// A certificate must lead to an authority in the PEM file `authority`, or without one, to an authority of
    /// the system; without `verifies`, any will do.
    init(
        store: FetchStore, from url: FetchURL? = nil, authority: String? = nil,
        verifies: Bool = true, protocols: HTTPProtocols = .http1
    ) throws(FetchError) {
        self.store = store
        client = try FetchClient(protocols, for: url, trusting: authority, verifies: verifies)
    }

    /// Fetches a URL: offers the best dictionary, decodes, and keeps the response if it is a dictionary.
    func fetch(
        _ url: FetchURL, until deadline: FetchDeadline = FetchDeadline(seconds: 60, isOption: false)
    ) throws(FetchError) -> Fetched {
        let began = SystemClock.monotonicNanoseconds
        let first = FetchVisit(url: url, store: store, accepted: accepted, fields: fields, content: content)
        let (visit, response, body) = try load(first, deadline)
        let milliseconds = Double((SystemClock.monotonicNanoseconds - began) / 10_000) / 100
        var notKept: String?
        var isStored = true
        do throws(NotKept) {
            try keep(visit, response, body)
        } catch {
            (isStored, notKept) = (false, error.text)
        }
        let report = visit.report(response, body, isStored: isStored, milliseconds: milliseconds)
        return Fetched(
            head: response.head, body: body.bytes, links: links(of: response, from: url), notKept: notKept,
            report: report)
    }

    /// Fetches what the Links of a response name, and notes in its report what is kept.
    ///
    /// Only later requests have a use for it, so that it comes behind the body, and has little time.
    func followLinks(of fetched: inout Fetched, until deadline: FetchDeadline) {
        let deadline = FetchDeadline(seconds: Self.linkSecondsMax, within: deadline)
        for link in fetched.links where follow(link, deadline) { fetched.report.stored = true }
    }

    /// Sends a request and decodes its response; if that is an undecodable delta, drops its dictionary and asks once more
    /// without one, which is the last time.
    private func load(
        _ visit: FetchVisit, _ deadline: FetchDeadline
    ) throws(FetchError) -> (FetchVisit, FetchResponse, Body) {
        let response = try exchange(visit, deadline)
        if let asked = visit.asked, visit.isOfAnotherBody(response) {
            store.remove(asked.record.dictionary)
            warn("the server confirmed another body than the one that is held; the request is sent once more")
            return try load(visit.plain, deadline)
        }
        do throws(FetchError) {
            return (visit, response, try visit.body(of: response))
        } catch {
            guard case .coding(let cause) = error, let offered = visit.offered else { throw error }
            let failure = DecodingFailure(cause, method: visit.content.method.text)
            if failure.dropsDictionary { store.remove(offered.record.dictionary) }
            guard failure.asksAgain else { throw error }
            warn("\(error); the dictionary was dropped, and the request is sent once more without one")
        }
        return try load(visit.plain, deadline)
    }

    private func exchange(_ visit: FetchVisit, _ deadline: FetchDeadline) throws(FetchError) -> FetchResponse
    {
        let endpoints = try visit.url.endpoints(until: deadline)
        let request = try visit.request()
        let content = visit.content.bytes
        guard isVerbose else { return try client.send(request, content, to: endpoints, deadline: deadline) }
        let response = try client.send(request, content, to: endpoints, deadline: deadline) { version in
            FetchTranscript.print(request, version)
        }
        for head in response.interim { FetchTranscript.print(head) }
        FetchTranscript.print(response.head)
        FetchTranscript.print(trailers: response.trailers)
        return response
    }

    /// Keeps the body if it is a dictionary; a cache that cannot be written is only a warning.
    private func keep(_ visit: FetchVisit, _ response: FetchResponse, _ body: Body) throws(NotKept) {
        // Also over plain http, where dictionaries are kept as well.
        if ClearSiteData.endsDictionaries(response.head.headers.values(.clearSiteData)) {
            store.removeAll(of: visit.url.target.origin)
            throw NotKept("Clear-Site-Data")
        }
        guard accepted.usesDictionaries, !visit.forbidsStoring else { throw NotKept() }
        let record: ClientRecord
        let isKept: Bool
        do {
            record = try visit.record(response, body)
            isKept = try store.keep(record, body)
        } catch let reason as NotKept {
            if response.head.status == .notModified, let own = visit.asked {
                store.remove(own.record.dictionary)
            }
            throw reason
        } catch {
            warn(
                "cannot keep dictionaries in \(store.directory): \(error.localizedDescription); choose another with --cache"
            )
            throw NotKept()
        }
        guard isKept else {
            throw record.dictionary.cameStale
                ? NotKept(.stale, response.head.headers) : NotKept("too large for the cache")
        }
        // RFC 9842 section 2.1.2: fetch has a destination, that of a page's fetch().
        guard !record.dictionary.isFor(destination: "") else { return }
        let names = record.dictionary.matchDest.map(OutputFormat.plain).joined(separator: ", ")
        warn(
            "the dictionary is not for requests of fetch, whose destination is \"\": match-dest has \(names)")
    }

    /// Returns the dictionaries that a response names and that are not held yet (RFC 9842 section 3).
    private func links(of response: FetchResponse, from url: FetchURL) -> [FetchURL] {
        guard accepted.usesDictionaries else { return [] }
        let lines = response.head.headers.values(.link)
        return DictionaryLinks.named(
            by: lines, status: Int(response.head.status.rawValue), of: url.target
        ) { FetchURL($0, relativeTo: url).map { ($0, $0.target) } }
        .map(\.location).filter { !store.hasFresh($0, at: response.receivedAt) }
    }

    /// Fetches a dictionary for later, without the user's fields; errors are only warnings.
    private func follow(_ url: FetchURL, _ deadline: FetchDeadline) -> Bool {
        do throws(FetchError) {
            let (visit, response, body) = try load(
                FetchVisit(url: url, store: store, accepted: accepted), deadline)
            return (try? keep(visit, response, body)) != nil
        } catch {
            let why = if case .tooSlow = error { "no complete response in time" } else { "\(error)" }
            warn("cannot fetch the dictionary \(url.text): \(why)")
            return false
        }
    }

    /// Tells the user of a problem that does not stop the fetch.
    private func warn(_ text: String) { StandardError.write("dictum: \(text)") }
}

/// The result of a fetch: the decoded body and its cost.
struct Fetched: Sendable {
    let head: ResponseHead
    let body: [UInt8]
    /// The dictionaries that the response names and that are not held yet.
    let links: [FetchURL]
    /// The reason why the body is not kept as a dictionary, if there is one to tell.
    let notKept: String?
    var report: FetchReport

    /// The report for people.
    var line: String {
        let reason = report.stored ? nil : notKept
        return report.line + (reason.map { ", not kept: \($0)" } ?? "")
    }
}

/// The reason why fetch keeps no dictionary of a response.
struct NotKept: Error {
    /// The reason, and what to do; nil where the user asked for it, or has been told.
    let text: String?

    /// A reason that needs no words.
    init() { text = nil }

    init(_ text: String) { self.text = text }

    init(_ cause: UnkeptCause, _ headers: Headers) {
        switch cause {
        case .status, .empty, .coding: self.init()
        case .notOffered: self.init("the server offers no dictionary; dictum doctor says why")
        case .match: self.init("the match of its Use-As-Dictionary is invalid; dictum doctor says why")
        case .noStore: self.init("no-store or Vary: *; dictum doctor says what to do")
        case .noLifetime: self.init("no lifetime; \(Self.remedy)")
        case .stale:
            let isForbidden = CacheControl(headers.values(.cacheControl)).noCache
            self.init("\(isForbidden ? "no-cache" : "stale when it came"); \(Self.remedy)")
        }
    }

    private static let remedy = "send max-age, give the route a ttl, or see dictum doctor"
}
