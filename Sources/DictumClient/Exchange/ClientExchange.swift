internal import Dictionaries
internal import DictionaryFiles
internal import Foundation
internal import Primitives

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// One request of the app from beginning to end: name a dictionary, follow redirects, decode, keep.
struct ClientExchange: Sendable {
    let transport: any Transport
    let dictionaries: UserDictionaries
    var options: DictionaryClient.Options
    /// The app's name for what it asks, of several operations over one URL.
    var operation: String?
    /// True if the client fetches by itself what a Link has named.
    var isOfLink = false

    /// Sends a request and returns the response behind all redirects; if it is a delta, once its first bytes have been decoded.
    func open(_ request: URLRequest) async throws -> OpenResponse {
        // A stream is read once, and a redirect or a second request would need it again.
        guard request.httpBodyStream == nil else { throw DictionaryClientError.bodyStream }
        let target = ClientRequest.target(of: request.url)
        let mayUse = target.map { ClientRequest.mayUseDictionaries(request, $0) } == true
        let generation = mayUse ? await dictionaries.begin() : await dictionaries.generation
        if !isOfLink { await dictionaries.linked.noteUse() }
        return try await behindRedirects(openOnce(request, generation))
    }

    /// Sends a request and collects the whole body.
    ///
    /// Nothing has reached the app before the end, so a delta that does not decode in its middle is asked for again, too.
    func collect(_ request: URLRequest) async throws -> (Data, OpenResponse) {
        let response = try await open(request)
        do {
            return (try await response.collect(), response)
        } catch let error as CodingError {
            let again = try await behindRedirects(retry(response.request, after: error, response))
            do {
                return (try await again.collect(), again)
            } catch let error as CodingError {
                throw failure(error)
            }
        }
    }

    private func behindRedirects(_ first: OpenResponse) async throws -> OpenResponse {
        var response = first
        for _ in 0..<Redirect.countMax {
            guard let next = try redirect(of: response) else { return response }
            let former = response
            response = try await openOnce(next, former.generation)
            response.isRetry = response.isRetry || former.isRetry
            response.lostBytes += former.lostBytes
        }
        guard let next = try redirect(of: response) else { return response }
        throw DictionaryClientError.redirect(next.url?.absoluteString ?? "")
    }

    /// Returns the request that a response redirects to; nil if it does not.
    private func redirect(of response: OpenResponse) throws -> URLRequest? {
        guard let next = try RedirectRule.next(after: response.request, response.head) else { return nil }
        // A Link may name dictionaries of its own origin only.
        if isOfLink, ClientRequest.target(of: next.url)?.origin != response.visit.target.origin {
            throw DictionaryClientError.redirect(next.url?.absoluteString ?? "")
        }
        return next
    }

    private func openOnce(_ request: URLRequest, _ generation: Int?) async throws -> OpenResponse {
        guard let target = ClientRequest.target(of: request.url) else { throw DictionaryClientError.notHTTP }
        var held: (best: VerifiedDictionary?, own: VerifiedDictionary?) = (nil, nil)
        let mayUse = ClientRequest.mayUseDictionaries(request, target)
        if mayUse {
            // Behind a redirect. A log-out since the first request has left no trace, so this is for later ones.
            if generation == nil { _ = await dictionaries.begin() }
            held = await dictionaries.held(
                for: target, operation: operation, isGet: ClientRequest.method(request) == "GET",
                now: Self.now)
            if held.own?.record.isSelected(by: transport.completed(request)) == false { held.own = nil }
        }
        let upload = await codedUpload(of: request, to: target)
        // A request has one Dictionary-ID.
        if mayUse, let upload { held.best = upload.dictionary }
        let visit = ClientRequest(
            upload?.request ?? request, target, best: held.best, own: held.own,
            decodedCodings: transport.decodedCodings)
        var response = try await send(visit, request, mayKeep: mayUse, generation)
        if let upload, response.head.status == 415 {
            response = try await sendPlain(request, after: response, upload)
        }
        if response.head.status == 304, let own = visit.confirmed, response.confirmed == nil {
            await drop(own, of: request, cause: "the server confirmed another body")
            response = try await sendAgain(request, instead: response)
        }
        // Other bodies have no dictionary to blame, and the app need not wait for their first bytes.
        guard response.coding?.usesDictionary == true else { return response }
        do {
            try await response.reader.prepare()
            return response
        } catch let error as CodingError {
            return try await retry(request, after: error, response)
        }
    }

    /// Returns a request with its body coded over what the app has fetched from the same URL, if that is wanted and shorter.
    private func codedUpload(of request: URLRequest, to target: TargetURI) async -> CodedUpload? {
        guard options.codesUploads, CodedUpload.isPossible(request, target) else { return nil }
        let held = await dictionaries.forUpload(to: target, operation: operation, now: Self.now)
        return held.flatMap { CodedUpload(request, over: $0) }
    }

    /// Sends a request with its plain body, after the server has refused the coded one and not acted upon it.
    private func sendPlain(
        _ request: URLRequest, after refused: OpenResponse, _ upload: CodedUpload
    ) async throws -> OpenResponse {
        let cause = "the server refused a body coded over it"
        let isRemoved = CodedUpload.isAboutDictionary(refused.head)
        await drop(upload.dictionary, of: request, cause: cause, isRemoved: isRemoved)
        return try await sendAgain(request, instead: refused)
    }

    /// Sends a request without dictionaries and conditions of the client's own.
    private func sendAgain(_ request: URLRequest, instead failed: OpenResponse) async throws -> OpenResponse {
        let visit = ClientRequest(
            request, failed.visit.target, best: nil, own: nil, decodedCodings: transport.decodedCodings)
        var response = try await send(visit, request, mayKeep: failed.mayKeep, failed.generation)
        response.isRetry = true
        response.lostBytes = await failed.lostBytes + failed.reader.wireBytes
        return response
    }

    /// Forgets a dictionary with which a request failed, and tells the app.
    func drop(_ held: VerifiedDictionary, of request: URLRequest, cause: String, isRemoved: Bool = true) async
    {
        if isRemoved { await dictionaries.remove(held.record.dictionary) }
        if let url = request.url { options.onEvent(.dictionaryDropped(url, cause: cause)) }
    }

    /// Sends a request once more without a dictionary; throws if it had none, or a second response would not be better.
    private func retry(
        _ request: URLRequest, after error: CodingError, _ failed: OpenResponse
    ) async throws -> OpenResponse {
        let rule = DecodingFailure(error, method: ClientRequest.method(request))
        guard let offered = failed.visit.offered, rule.dropsDictionary else { throw failure(error) }
        await drop(offered, of: request, cause: "\(error)")
        guard rule.asksAgain else { throw failure(error) }
        return try await sendAgain(request, instead: failed)
    }

    private func send(
        _ visit: ClientRequest, _ request: URLRequest, mayKeep: Bool, _ generation: Int?
    ) async throws -> OpenResponse {
        // A response may change cookies.
        let completed = transport.completed(request)
        let head = try await transport.send(visit.urlRequest)
        let receivedAt = Self.now
        let clears = await clear(visit.target, head)
        let confirmed = head.status == 304 ? visit.confirmed(by: head) : nil
        let coding = codingToUndo(head, of: request)
        let isOffer = mayKeep && head.offersDictionary && obstacle(to: head, of: request) == nil
        let reader: BodyReader
        do throws(CodingError) {
            let pieces = confirmed.map { TransportResponse.pieces(of: Data($0.body.bytes)) }
            reader = try BodyReader(
                pieces ?? head.nextPiece, coding: confirmed == nil ? coding : nil,
                dictionary: coding?.usesDictionary == true ? visit.offered?.body : nil,
                limit: options.bodyBytesMax, copyBytesMax: isOffer ? options.dictionaryBytesMax : nil,
                transportMayDecode: !transport.decodedCodings.isEmpty)
        } catch {
            // A dictionary coding without a dictionary: the server's fault, and nothing can be retried.
            throw failure(error)
        }
        return OpenResponse(
            exchange: self, request: request, completed: completed, visit: visit, head: head, coding: coding,
            confirmed: confirmed,
            reader: reader, mayKeep: mayKeep && !clears, generation: generation, receivedAt: receivedAt)
    }

    /// Removes the dictionaries of an origin if a response of it logs the user out (RFC 9842 section 10); returns true if so.
    private func clear(_ target: TargetURI, _ head: TransportResponse) async -> Bool {
        guard ClearSiteData.endsDictionaries(head.lines("clear-site-data")) else { return false }
        await dictionaries.removeAll(of: target.origin)
        return true
    }

    /// Returns the coding that the client has to undo; nil for one that this build does not have, the transport's own, and a
    /// response without a whole content.
    private func codingToUndo(_ head: TransportResponse, of request: URLRequest) -> ContentCoding? {
        guard CodedContent.isWhole(status: head.status, method: ClientRequest.method(request)),
            let coding = ContentCoding(contentEncoding: head.lines("content-encoding")), coding.isLinked
        else { return nil }
        return transport.decodedCodings.contains(coding.token) ? nil : coding
    }

    /// Returns true if a response has a whole content, and the transport undoes its codings.
    func isDecodedByTransport(_ head: TransportResponse, of request: URLRequest) -> Bool {
        let names = ContentCoding.names(contentEncoding: head.lines("content-encoding"))
        return CodedContent.isWhole(status: head.status, method: ClientRequest.method(request))
            && !names.isEmpty && names.allSatisfy(transport.decodedCodings.contains)
    }

    /// Returns why a response is not kept, whatever it says of its life; nil if it may be.
    func obstacle(to head: TransportResponse, of request: URLRequest) -> UnkeptCause? {
        // RFC 9111 section 5.2.1.5.
        if CacheControl([request.value(forHTTPHeaderField: "Cache-Control") ?? ""]).noStore {
            return .noStore
        }
        let lines = head.lines("content-encoding")
        // The app gets other bodies coded. No server would know such a dictionary.
        let isDecoded =
            ContentCoding(contentEncoding: lines)?.isLinked == true
            || ContentCoding.names(contentEncoding: lines).allSatisfy(transport.decodedCodings.contains)
        return isDecoded ? nil : .coding
    }

    private func failure(_ error: CodingError) -> DictionaryClientError {
        DictionaryClientError(error, bodyBytesMax: options.bodyBytesMax)
    }

    /// Milliseconds since 1970.
    static var now: Int64 { Int64(Date().timeIntervalSince1970 * 1000) }
}

/// The rule of redirects on the app's requests; pure.
enum RedirectRule {
    /// Returns the next request; nil if the response is no redirect.
    ///
    /// Credentials of the app do not go to another origin.
    static func next(after request: URLRequest, _ head: TransportResponse) throws -> URLRequest? {
        guard let rule = Redirect.next(status: head.status, method: ClientRequest.method(request)),
            let location = head.lines("location").first
        else { return nil }
        guard let url = URL(string: location, relativeTo: request.url)?.absoluteURL,
            let target = ClientRequest.target(of: url), let from = ClientRequest.target(of: request.url)
        else { throw DictionaryClientError.redirect(location) }
        var next = request
        next.url = url
        if !rule.keepsContent {
            next.httpMethod = rule.method
            next.httpBody = nil
        }
        let isOther = target.origin != from.origin
        for name in (request.allHTTPHeaderFields ?? [:]).keys
        where !Redirect.takesAlong(name, toOtherOrigin: isOther, keepsContent: rule.keepsContent) {
            next.setValue(nil, forHTTPHeaderField: name)
        }
        return next
    }
}

/// A request of the app whose body is coded over what the app has fetched from the same URL (RFC 9842 section 5); pure.
struct CodedUpload {
    let request: URLRequest
    let dictionary: VerifiedDictionary

    /// Codes the body; returns nil if the coded form is not shorter.
    init?(_ request: URLRequest, over dictionary: VerifiedDictionary) {
        guard let body = request.httpBody,
            DictionaryFit.dczIsPossible(dictionaryBytes: dictionary.body.count, bodyBytes: body.count)
        else { return nil }
        let plain = [UInt8](body)
        let options = EncoderOptions(bodyBytes: plain.count, dictionary: .reference(dictionary.body))
        guard let coded = try? Codec.encode(plain.span, .dcz, options: options), coded.count < plain.count
        else { return nil }
        var request = request
        request.httpBody = Data(coded)
        request.setValue(ContentCoding.dcz.token, forHTTPHeaderField: "Content-Encoding")
        request.setValue(nil, forHTTPHeaderField: "Content-Length")
        let id = dictionary.record.dictionary.id
        if !id.isEmpty {
            request.setValue(DictionaryID.serialized(id), forHTTPHeaderField: "Dictionary-ID")
        }
        (self.request, self.dictionary) = (request, dictionary)
    }

    /// The fields that describe the bytes of the body.
    private static let bodyFields = [
        "Content-Encoding", "Content-Range", "Content-MD5", "Content-Digest", "Repr-Digest", "Digest",
    ]

    /// Returns true if a request has a body that the client may code: at a trustworthy origin, and described by no field.
    static func isPossible(_ request: URLRequest, _ target: TargetURI) -> Bool {
        target.isTrustworthy && request.httpBody?.isEmpty == false
            && (bodyFields + ["Dictionary-ID"]).allSatisfy { request.value(forHTTPHeaderField: $0) == nil }
    }

    /// Returns true if a 415 refuses the dictionary: the coding itself is accepted.
    static func isAboutDictionary(_ head: TransportResponse) -> Bool {
        AcceptEncoding(head.lines("accept-encoding")).quality(of: .dcz) > 0
    }
}
