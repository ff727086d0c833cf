internal import Dictionaries
internal import HTTP

// MARK: - Deltas that are sent again

extension Exchange {
    /// Who may get the deltas of this request.
    ///
    /// On a private route only answers over the same private chain.
    var deltaScope: DeltaScope {
        guard route.policy.scope == .private else { return .public }
        guard case .ready(let version, _) = dictionary else { return .private(chain: []) }
        return version.chain.deltaScope
    }

    /// Notes which client got a delta; one that three have asked for is coded again at the strongest setting.
    func noteAsker(_ answer: Answer, _ result: CodingJob.Result) {
        guard let key = result.key,
            context.deltas.cache.note(peer: peer.clientAddress(request.headers), of: key)
        else { return }
        guard let pass = strongestPass(key, answer) else { return context.deltas.cache.dropStrongest(key) }
        context.deltas.strengthen(pass)
    }

    private func strongestPass(_ key: DeltaKey, _ answer: Answer) -> StrongestPass? {
        // One identity is hardly three clients.
        guard key.scope == .public, case .ready(let version, let dictionary) = dictionary,
            let place = answer.place,
            max(dictionary.count, answer.collected.count) <= StrongestPass.bytesMax
        else { return nil }
        let (context, route) = (context, route)
        return StrongestPass(
            key: key,
            inputs: {
                let store = context.store
                guard
                    let newest = store.reader()
                        .newest(chain: place.chain, url: place.url, variant: place.variant),
                    newest.digest == key.body, let body = store.hotBody(of: newest),
                    let dictionary = store.hotBody(of: version)
                else { return nil }
                return (body, dictionary)
            },
            withMemory: { bytes, work in
                guard context.compressionMemory.reserve(bytes) else { return false }
                defer { context.compressionMemory.release(bytes) }
                work()
                return true
            },
            onInexact: {
                context.reportInexact(key, key.coding, dictionary: key.dictionary, on: route)
            })
    }
}
