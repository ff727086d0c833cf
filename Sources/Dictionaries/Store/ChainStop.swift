/// That a chain stops offering because it is too wide, and why.
struct ChainStop: Equatable, Sendable {
    /// What showed it.
    enum Cause: Equatable, Sendable {
        /// So few of the dictionaries that clients advertised were found.
        case fewFound(Int, of: Int)
        /// Sampled deltas took so many bytes, where the best plain coding takes `of`.
        case littleSaved(Int, of: Int)
    }

    let cause: Cause
    /// For how long.
    let seconds: Int

    /// What the log says of it; names the route's match and nothing that a request brought.
    func text(route: String, urlsMax: Int) -> String {
        let why =
            switch cause {
            case .fewFound(let found, let advertised):
                "of \(advertised) dictionaries that clients advertised for it \(found) were found"
            case .littleSaved(let delta, let plain):
                "sampled deltas took \(delta) bytes, where plain coding takes \(plain)"
            }
        return
            "chain-too-wide: a chain of the route \(route) has more than \(urlsMax) URLs an hour and \(why); "
            + "it stops offering for \(seconds / 60) minutes: let the route cover less (`covers: path`, a template), "
            + "or set its dictionaries off"
    }
}
