internal import HTTP

// MARK: - The request takes a place among those at upstreams

extension Exchange {
    /// Takes a place for the request; returns false if it waits for one or is refused.
    ///
    /// A place is taken once, and serves for all tries of the request.
    func takePlace(at upstream: LoopUpstream) -> Bool {
        if case .taken = attempt.place { return true }
        guard let group = route.upstream else { return true }
        let demand = demand(of: group, at: upstream)
        do throws(UpstreamPlaces.Shortage) {
            try context.shared.places.take(demand)
            attempt.place = .taken(demand)
            return true
        } catch {
            wait(for: demand, of: group, because: error)
            return false
        }
    }

    private func demand(of group: UpstreamGroup, at upstream: LoopUpstream) -> UpstreamPlaces.Demand {
        UpstreamPlaces.Demand(
            client: share.use, upstream: group.load, upstreamMax: group.settings.maxRequests,
            portsMax: upstream.portsMax, isOnlyUpstream: context.upstreams.all.count == 1)
    }

    /// Has the request wait until others have ended, with its body where it is.
    private func wait(
        for demand: UpstreamPlaces.Demand, of group: UpstreamGroup, because shortage: UpstreamPlaces.Shortage
    ) {
        self.shortage = shortage
        guard group.settings.queueTimeout > 0 else { return refuseWaiting() }
        if !upload.isWhole { client.pauseRequest() }
        let exchange = ExchangeReference(self)
        let waiter = context.shared.places.wait(demand) { exchange.perform { $0.placeGranted(demand) } }
        guard let waiter else { return refuseWaiting() }
        attempt.place = .waiting(waiter)
        core.setDeadline(token, core.now + Int64(group.settings.queueTimeout))
    }

    /// Goes on with a request that has got its place.
    private func placeGranted(_ demand: UpstreamPlaces.Demand) {
        guard attempt.isWaiting, attempt.head != nil else { return }
        core.setDeadline(token, nil)
        attempt.place = .taken(demand)
        send()
        guard let connection = attempt.connection else { return }
        let kept = upload.takeKept()
        if !kept.bytes.isEmpty { connection.write(kept.bytes.span) }
        if let trailers = kept.trailers { finishUpload(trailers) }
        if upload.decoding != nil {
            advanceUpload()
        } else if connection.canWrite {
            client.resumeRequest()
        }
        advance()
    }

    /// Refuses a request that has waited for long enough, or may not wait.
    func refuseWaiting() {
        attempt.leavePlace(context.shared.places)
        switch shortage {
        case .client: refuse(.clientBusy, .clientRequests)
        case .upstream: refuse(.upstreamBusy, .upstreamRequests)
        }
    }

    // MARK: The client's window stays closed at the end

    /// True while only the last bytes of the response wait for the client's window; the rest of the request is ignored.
    var awaitsWindow: Bool { lateTrailers != nil }

    /// Keeps the exchange until the client has room for the last bytes of its response, since its share of memory is used up.
    ///
    /// A place bounds the number of these. Without one the response is given up.
    func awaitWindow(before trailers: Headers) {
        guard takesPlaceAgain() else {
            record.fault = .own("neither memory nor a place for a client that opens no window")
            return abort()
        }
        lateTrailers = trailers
        client.awaitWindow()
    }

    private func takesPlaceAgain() -> Bool {
        if case .taken = attempt.place { return true }
        guard let upstream, let group = route.upstream else { return false }
        // The request may have waited for one, which would come on top.
        attempt.leavePlace(context.shared.places)
        let demand = demand(of: group, at: upstream)
        guard (try? context.shared.places.take(demand)) != nil else { return false }
        attempt.place = .taken(demand)
        return true
    }

    /// Counts what waits for the client's window beyond the end of the exchange; returns false if its share is used up.
    func lendStuckBytes() -> Bool {
        let bytes = client.stuckBytes
        guard bytes > 0 else { return true }
        guard let loan = KeptLoan(bytes, from: share.memory) else { return false }
        client.keep(loan)
        return true
    }
}
