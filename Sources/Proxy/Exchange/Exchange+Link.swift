internal import Dictionaries
internal import HTTP
internal import Primitives

// MARK: - Dictionaries with a URL of their own

extension Exchange {
    /// Answers a request for a named version: GET and HEAD, whole whatever Range says, in the best coding.
    func serve(_ linked: LinkedDictionary) {
        let now = SystemClock.unixSeconds
        let facts = linked.facts(now: now)
        let answer = Answer(
            linked.head(now: now), framing: .length(UInt64(linked.version.bytes)), facts: facts)
        self.answer = answer
        // The conditions of an offer hold here too (RFC 9842 sections 8 and 9.3.3).
        if Offer.mayCarry(request: self.facts, response: facts, policy: route.policy),
            let offer = linked.offer
        {
            answer.head.headers.append(.useAsDictionary, offer.serialized)
            proxy.metrics.countOffer()
            findDictionary(for: linked)
            context.store.offered(linked.version, over: dictionary.version, now: now)
        } else {
            findDictionary(for: linked)
            context.store.touch(linked.version, now: now)
        }
        if isNotModified(answer.head.headers.first(.etag)) {
            makeNotModified(answer)
            start(answer.head, body: .none)
            return complete()
        }
        if request.method == .head { return serveHead(answer) }
        answer.stage = .holding
        load(linked.version) { exchange, body in exchange.dictionaryRead(body) }
    }

    private func serveHead(_ answer: Answer) {
        shapeBodiless(answer)
        start(answer.head, body: .none)
        complete()
    }

    /// The dictionary that the client names: an older one of the same chain, or whatever else it may use here.
    private func findDictionary(for linked: LinkedDictionary) {
        guard let digest = facts.availableDictionary, let authority else { return }
        let found =
            proxy.index.version(chain: linked.version.chainKey, digest: digest)
            ?? proxy.index.find(digest: digest, authority: authority, path: path, query: query)
        guard let found else {
            dictionary = .unknown
            return
        }
        context.store.advertised(found, now: SystemClock.unixSeconds)
        dictionary = .loading(found)
        load(found) { exchange, body in exchange.loaded(body) }
    }

    /// Hands over a body at once if it is in memory, else when it has been read beside the loop.
    private func load(_ version: Dictionaries.Version, _ done: @escaping @Sendable (Exchange, Body?) -> Void)
    {
        if let body = context.store.hotBody(of: version) { return done(self, body) }
        let loop = core.loop
        let token = token
        context.store.load(version) { body in
            loop.execute { core in
                if let exchange = core.handler(token, as: Exchange.self) { done(exchange, body) }
            }
        }
    }

    /// The body is here, or cannot be had: then the name leads nowhere.
    private func dictionaryRead(_ body: Body?) {
        guard let answer, case .holding = answer.stage else { return }
        guard let body else {
            releaseAnswer()
            return refuse(Self.noSuchDictionary, .reservedPath)
        }
        answer.collected = body.bytes
        answer.stored = body
        answer.isWhole = true
        if dictionary.isLoading { core.setDeadline(token, core.now + Self.holdMilliseconds) }
        prepare(answer)
    }

    static let noSuchDictionary = ProblemAnswer(
        status: .notFound, detail: "There is no such dictionary.")
}
