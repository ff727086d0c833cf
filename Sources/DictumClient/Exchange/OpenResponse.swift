internal import Dictionaries
internal import DictionaryFiles
internal import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// A response whose head has come, and what is done at its end.
struct OpenResponse: Sendable {
    let exchange: ClientExchange
    /// The request as the app, or a redirect, made it.
    let request: URLRequest
    /// The same with what the transport has added.
    let completed: URLRequest
    let visit: ClientRequest
    let head: TransportResponse
    /// The coding that the client undoes; nil if the body passes.
    let coding: ContentCoding?
    /// The body that a 304 has confirmed, which the app gets.
    let confirmed: VerifiedDictionary?
    let reader: BodyReader
    let mayKeep: Bool
    /// nil if nothing may be kept.
    let generation: Int?
    /// Milliseconds since 1970.
    let receivedAt: Int64
    var isRetry = false
    /// The bytes of bodies that came before this one and could not be used.
    var lostBytes = 0

    /// The response as if it had never been coded: 200 with the fields of the body that a 304 confirmed, and without
    /// those of the coding.
    func urlResponse(bodyBytes: Int?) throws -> HTTPURLResponse {
        guard let url = request.url else { throw DictionaryClientError.notHTTP }
        var fields: [String: String] = [:]
        for field in shownFields {
            // RFC 9110 section 5.3: lines of the same name are one list.
            fields[field.name] = fields[field.name].map { $0 + ", " + field.value } ?? field.value
        }
        if let bodyBytes, isDecoded || confirmed != nil {
            fields["Content-Length"] = "\(bodyBytes)"
        }
        let response = HTTPURLResponse(
            url: url, statusCode: confirmed == nil ? head.status : 200, httpVersion: "HTTP/1.1",
            headerFields: fields)
        guard let response else { throw DictionaryClientError.notHTTP }
        return response
    }

    /// True if the client or the transport has undone the coding that the head names.
    private var isDecoded: Bool {
        coding.map { $0 != .identity } ?? exchange.isDecodedByTransport(head, of: request)
    }

    private var shownFields: [ResponseField] {
        let sent = fields(without: isDecoded || confirmed != nil ? Self.codingFields : [])
        return confirmed?.record.fields.updated(by: sent) ?? sent
    }

    private static let codingFields = ["content-encoding", "content-length"]

    /// Returns the fields of the head except those with some names, which are in lower case.
    private func fields(without hidden: [String]) -> [ResponseField] {
        head.fields.filter { !hidden.contains($0.name.lowercased()) }
            .map { ResponseField(name: $0.name, value: $0.value) }
    }

    /// Returns the next piece of the body; after the last one, ends the response and returns nil.
    func nextPiece() async throws -> Data? {
        do {
            if let piece = try await reader.next() { return piece }
        } catch let error as CodingError {
            let rule = DecodingFailure(error, method: ClientRequest.method(request))
            if rule.dropsDictionary, let offered = visit.offered {
                await exchange.drop(offered, of: request, cause: "\(error)")
            }
            let told = DictionaryClientError(error, bodyBytesMax: exchange.options.bodyBytesMax)
            await reader.fail(with: told)
            throw told
        }
        await end()
        return nil
    }

    /// Returns the whole body, and ends the response; throws the decoder's own error.
    func collect() async throws -> Data {
        var body = Data()
        while let piece = try await reader.next() { body.append(piece) }
        await end()
        return body
    }

    /// Does what is to be done once the body has come whole: keeps it, and tells the app the figures.
    private func end() async {
        let isKept = await keep()
        if !exchange.isOfLink {
            await exchange.dictionaries.linked.noteUse()
            await exchange.followLinks(of: self)
        }
        let wireBytes = lostBytes + (confirmed == nil ? await reader.wireBytes : 0)
        let bodyBytes = await reader.bodyBytes
        guard let url = request.url else { return }
        let metrics = FetchMetrics(
            url: url, status: head.status, coding: head.lines("content-encoding").joined(separator: ", "),
            wireBytes: wireBytes, bodyBytes: bodyBytes,
            requestBytes: visit.urlRequest.httpBody?.count ?? 0,
            dictionary: visit.offered?.record.dictionary.digest, isKept: isKept,
            isRevalidated: confirmed != nil,
            isRetried: isRetry, isOfLink: exchange.isOfLink)
        exchange.options.onEvent(.finished(metrics))
    }

    /// Keeps the body, or on a 304 the one that it confirms.
    private func keep() async -> Bool {
        let old = head.status == 304 ? visit.confirmed ?? visit.known : nil
        var body = old?.body
        guard mayKeep, let url = request.url else { return false }
        if let cause = exchange.obstacle(to: head, of: request) {
            if head.offersDictionary { exchange.options.onEvent(.notKept(url, cause: cause.rawValue)) }
            return false
        }
        if head.offersDictionary {
            guard let copy = await reader.takeCopy() else {
                exchange.options.onEvent(.notKept(url, cause: "too large"))
                return false
            }
            body = Body(copy)
        }
        guard let body else { return false }
        let isGet = ClientRequest.method(request) == "GET"
        do {
            let dictionary = try CachedDictionary(
                status: head.status,
                // No heuristic gives a response to POST a lifetime (RFC 9110 section 9.3.3).
                fields: { $0 == "last-modified" && !isGet ? [] : head.lines($0) }, of: visit.target,
                digest: body.digest, bytes: body.count, operation: exchange.operation,
                confirming: old?.record.dictionary, receivedAt: receivedAt / 1000, storedAt: receivedAt)
            let record = ClientRecord(
                dictionary: dictionary, fields: fields(without: Self.unstoredFields), updating: old?.record
            ) {
                // A later GET of the URL asks for something else than this content did.
                isGet ? ClientRecord.selection(completed, $0) : nil
            }
            let isKept = try await exchange.dictionaries.keep(record, body, generation: generation)
            if dictionary.cameStale {
                exchange.options.onEvent(.notKept(url, cause: UnkeptCause.stale.rawValue))
            } else if !isKept {
                exchange.options.onEvent(.notKept(url, cause: "too large, or removed meanwhile"))
            }
            return isKept
        } catch let cause as UnkeptCause {
            exchange.options.onEvent(.notKept(url, cause: cause.rawValue))
            if let old { await exchange.dictionaries.remove(old.record.dictionary) }
            return false
        } catch {
            // The disk may be full, for example: what a 304 confirms is whole as it was, and can be confirmed again.
            exchange.options.onEvent(.notKept(url, cause: "\(error)"))
            return false
        }
    }

    /// The fields that the app does not get if a 304 confirms the body; cookies belong to one response.
    private static let unstoredFields =
        codingFields + ["set-cookie", "use-as-dictionary", "connection", "transfer-encoding"]
}
