internal import Dictionaries
internal import HTTP

// MARK: - A request's body that is coded over a dictionary is decoded

extension Exchange {
    /// True if bodies of requests may be coded over dictionaries just now.
    var acceptsCodedBodies: Bool { route.decodesRequests && facts.dictionarySwitch == nil }

    /// Waits for the body; the request goes to the upstream once enough of it is decoded.
    func awaitCodedBody() {
        // RFC 9110 section 7.7: no-transform forbids to undo a coding.
        guard upload.coding == .dcz, acceptsCodedBodies, !facts.noTransform else {
            return refuseUnknownDictionary()
        }
        guard upload.framing.hasBody else { return refuse(.undecodableRequest, .malformed) }
        upload.decoding = UploadDecoding(
            limits: DecoderLimits(maxBytes: route.requestBodyMax), memory: share.memory)
        // RFC 9110 section 10.1.1: no upstream can ask for the body before its dictionary is known.
        if request.version >= .http11, request.headers.contains(.expect) {
            client.sendInterim(ResponseHead(status: .continue))
        }
    }

    /// Does what the decoding asks for, until it waits for an event, and sets the client's pace.
    func advanceUpload() {
        while !phase.isOver, let action = upload.decoding?.next(hasRoom: upstreamHasRoom) { perform(action) }
        guard !phase.isOver else { return }
        if upload.decoding?.wantsInput(hasRoom: upstreamHasRoom) != false {
            client.resumeRequest()
        } else if !upload.isWhole {
            client.pauseRequest()
        }
    }

    private var upstreamHasRoom: Bool { attempt.connection?.canWrite ?? false }

    private func perform(_ action: UploadDecoding.Action) {
        switch action {
        case .find(let digest): findUploadDictionary(digest)
        case .begin(let framing):
            upload.upstreamFraming = framing
            forward()
        case .write(let piece):
            upload.readOperation(piece.span)
            attempt.connection?.write(piece.span)
        case .finish(let trailers): finishUpload(trailers)
        case .fail(let failure): refuseUpload(because: failure)
        }
    }

    // MARK: The dictionary

    /// True while the dictionary of the request's body is looked for.
    var isFindingUploadDictionary: Bool { upload.decoding?.isFinding == true }

    private func findUploadDictionary(_ digest: Digest) {
        core.setDeadline(token, core.now + Self.lookUpMilliseconds)
        obtain(digest) { $0.uploadDictionaryChanged(to: $1) }
    }

    private func uploadDictionaryChanged(to state: DictionaryState) {
        guard isFindingUploadDictionary, !state.isLoading else { return }
        core.setDeadline(token, nil)
        guard let body = state.body else { return refuseUnknownDictionary() }
        upload.decoding?.found(body)
        advanceUpload()
    }

    // MARK: Bodies that are refused

    func refuseUnknownDictionary() {
        refuseUpload(.unknownDictionary(isOn: acceptsCodedBodies), .requestDictionary)
    }

    private func refuseUpload(because failure: CodingRemoval.Failure) {
        switch failure {
        case .malformed: refuseUpload(.undecodableRequest, .malformed)
        case .tooLarge: refuseUpload(.bodyTooLarge, .bodyTooLarge)
        case .noMemory:
            proxy.metrics.counters.compressionBusy.add()
            record.fault = .own("memory.coding is used up")
            refuseUpload(.clientBusy)
        }
    }

    /// Ends a request whose body is refused.
    func refuseUpload(_ problem: ProblemResponse, _ reason: RejectionReason? = nil) {
        upload.decoding?.giveUp()
        abortUpstream()
        if phase.isSent { return abort() }
        refuse(problem, reason)
    }
}
