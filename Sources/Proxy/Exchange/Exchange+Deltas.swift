internal import Dictionaries
internal import HTTP

// MARK: - Deltas that are sent again

extension Exchange {
    /// Who may get the deltas of this request.
    var deltaScope: DeltaScope {
        dictionary.version.map { context.store.deltaScope(of: $0.chainKey) } ?? .public
    }

    /// Notes which client got a delta; one that three have asked for is coded again at the strongest setting.
    func noteAsker(_ answer: Answer, _ result: CodingJob.Result) {
        guard let key = result.key,
            context.deltas.cache.recordPeer(peer.clientAddress(request.headers), of: key)
        else { return }
        guard let pass = strongestPass(key, answer) else { return context.deltas.cache.cancelStrongest(key) }
        context.deltas.strengthen(pass)
    }

    private func strongestPass(_ key: DeltaKey, _ answer: Answer) -> StrongestPass? {
        guard case .ready(let version, let dictionary) = dictionary, let place = answer.place,
            !place.isProvisional,
            max(dictionary.count, answer.collected.count) <= StrongestPass.bytesMax
        else { return nil }
        let (context, route) = (context, route)
        return StrongestPass(
            key: key,
            inputs: {
                let store = context.store
                let index = store.reader()
                guard
                    let newest = index.newest(place.key),
                    newest.id
                        == index.version(place.key, digest: key.body)?.id,
                    let body = store.hotBody(of: newest),
                    let dictionary = store.hotBody(of: version)
                else { return nil }
                return (body, dictionary)
            },
            withMemory: { bytes, work in context.compressionMemory.lend(bytes, to: work) != nil },
            onInexact: {
                context.reportInexact(key, key.coding, dictionary: key.dictionary, in: key.scope, on: route)
            })
    }
}
