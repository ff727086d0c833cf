internal import Dictionaries
internal import DictionaryFiles
internal import HTTP
internal import Primitives

/// A request with its dictionaries, and the interpretation of its response.
struct FetchVisit: Sendable {
    let url: FetchURL
    let accepted: CodingList
    /// The dictionary that the request names, by default none.
    var offered: VerifiedDictionary?
    /// The dictionary of this URL, fresh or not, if the request asks whether it is still current.
    var asked: VerifiedDictionary?
    /// The user's own fields.
    var fields = RequestFields()
    var content = FetchContent()

    /// The same without dictionaries.
    var plain: FetchVisit { FetchVisit(url: url, accepted: accepted, fields: fields, content: content) }

    func request() throws(FetchError) -> RequestHead {
        guard let target = try? RequestTarget(url.pathAndQuery) else { throw .notAURL(url.text) }
        var headers = Headers()
        headers.append(.host, url.authority)
        headers.append(.userAgent, "dictum-fetch")
        headers.append(.accept, "*/*")
        headers.append(.acceptEncoding, accepted.acceptEncoding(withDictionary: offered != nil))
        for (name, value) in offered?.record.dictionary.advertisement ?? [] {
            if let name = HeaderName(name) { headers.append(name, value) }
        }
        if let etag = asked?.record.dictionary.etag { headers.append(.ifNoneMatch, etag) }
        content.add(to: &headers)
        fields.add(to: &headers)
        return RequestHead(method: content.method, target: target, headers: headers)
    }

    /// True if nothing of the response may be stored (RFC 9111 section 5.2.1.5).
    var forbidsStoring: Bool {
        CacheControl(fields.fields.filter { $0.name == .cacheControl }.map(\.value)).noStore
    }

    /// Returns true if a response confirms another body than the one that was asked about.
    func isOfAnotherBody(_ response: FetchResponse) -> Bool {
        guard response.head.status == .notModified, let asked else { return false }
        return !OwnCondition.isConfirmed(asked.record.dictionary, by: response.head.headers.values(.etag))
    }

    /// Returns the body of a response, decoded and verified; for a 304, the body that it confirms, and a part as it came.
    func body(of response: FetchResponse) throws(FetchError) -> Body {
        if response.head.status == .notModified, let asked { return asked.body }
        let status = Int(response.head.status.rawValue)
        guard CodedContent.isWhole(status: status, method: content.method.text) else {
            return Body(response.body)
        }
        let coding = try Self.coding(of: response)
        guard CodedContent.needsDecoding(bytes: response.body.count, coding) else { return Body([]) }
        let dictionary = coding.usesDictionary ? offered?.body : nil
        if coding.usesDictionary, dictionary == nil { throw .noDictionaryOffered(coding) }
        do throws(CodingError) {
            let limits = DecoderLimits(maxBytes: FetchClient.bodyBytesMax, maxRatio: 10_000)
            return Body(try Codec.decode(response.body.span, coding, dictionary: dictionary, limits: limits))
        } catch {
            throw .coding(error)
        }
    }

    /// Returns the record to keep; throws if the response is no dictionary that a private cache may keep.
    func record(_ response: FetchResponse, _ body: Body) throws(NotKept) -> ClientRecord {
        guard content.mayUseDictionaries else { throw NotKept() }
        let headers = response.head.headers
        let old = response.head.status == .notModified ? asked?.record : nil
        do throws(UnkeptCause) {
            let dictionary = try CachedDictionary(
                status: Int(response.head.status.rawValue),
                fields: { name in HeaderName(name).map { headers.values($0) } ?? [] },
                of: url.target, digest: body.digest, bytes: body.count, confirming: old?.dictionary,
                receivedAt: response.receivedAt, storedAt: SystemClock.unixMilliseconds)
            // The fields on which the response depends.
            let vary = headers.values(.vary).map { ResponseField(name: HeaderName.vary.text, value: $0) }
            return ClientRecord(dictionary: dictionary, fields: vary, updating: old, selection: selection)
        } catch {
            throw NotKept(error, headers)
        }
    }

    /// Returns a digest of the request fields on which a response with these fields depends.
    private func selection(_ responseFields: [ResponseField]) -> String? {
        guard let headers = try? request().headers else { return nil }
        return RequestSelection.digest(vary: responseFields.lines("vary"), sent: fields.names) { name in
            let lines = HeaderName(name).map { headers.values($0) } ?? []
            return lines.isEmpty ? nil : lines.joined(separator: ", ")
        }
    }

    func report(_ response: FetchResponse, _ body: Body, isStored: Bool, milliseconds: Double) -> FetchReport
    {
        let coding = response.head.status.isBodiless ? nil : try? Self.coding(of: response)
        return FetchReport(
            url: url.text, status: Int(response.head.status.rawValue),
            protocol: response.head.version.shortText,
            coding: (coding ?? .identity).token, bodyBytes: body.count, wireBytes: response.body.count,
            savedPercent: FetchReport.savedPercent(body: body.count, wire: response.body.count),
            sha256: body.digest.hex, advertised: offered?.body.digest.hex,
            dictionaryID: offered.map(\.record.dictionary.id).flatMap { $0.isEmpty ? nil : $0 },
            stored: isStored,
            revalidated: response.head.status == .notModified && asked != nil, milliseconds: milliseconds)
    }

    static func coding(of response: FetchResponse) throws(FetchError) -> ContentCoding {
        let lines = response.head.headers.values(.contentEncoding)
        guard let coding = ContentCoding(contentEncoding: lines) else {
            throw .unknownCoding(lines.joined(separator: ", "))
        }
        return coding
    }
}

extension FetchVisit {
    init(
        url: FetchURL, store: FetchStore, accepted: CodingList, fields: RequestFields = RequestFields(),
        content: FetchContent = FetchContent()
    ) {
        self.init(url: url, accepted: accepted, fields: fields, content: content)
        // Nobody can decode a part of a delta.
        guard accepted.usesDictionaries, content.mayUseDictionaries, !fields.has("range") else { return }
        let held = store.held(for: url, at: SystemClock.unixMilliseconds)
        offered = held.best
        let isConditional = OwnCondition.fields.contains(where: fields.has)
        let tag = OwnCondition.entityTag(of: held.own?.record.dictionary, isConditional: isConditional)
        guard tag != nil, let own = held.own, own.record.selection == selection(own.record.fields) else {
            return
        }
        asked = own
    }
}
