internal import Dictionaries
internal import HTTP

/// The judge's opinion of a rule.
enum Verdict: Equatable, Sendable {
    case pass
    /// The expected request or body, and the one that came.
    case fail(String)
    /// The client did not do what the rule is about, which no RFC asks of it.
    case notTried(String)

    /// A client that keeps the rule has nothing to show for it.
    static let late = notTried(
        "the client had the offer so late that it may have been stale; this machine is too slow")
}

extension Step {
    /// Judges the requests that came during a step, and what the app got; pure.
    func verdict(
        _ seen: [SeenRequest], _ delivered: Delivered, _ bodies: JudgeBodies, idOf: (String) -> String?
    ) -> Verdict {
        guard let asked = seen.first(where: { $0.path == path && $0.isElsewhere == isElsewhere }) else {
            return .notTried("\(path) was not asked for")
        }
        if needsHTTP2, asked.version != .http2 { return .notTried("came over \(asked.version.text)") }
        let named = naming(asked, idOf)
        guard named == .pass else { return named }
        return body(seen, asked, delivered, bodies)
    }

    /// True if the client had an offer that lives for seconds only when that may have been stale already.
    ///
    /// A client takes the age of a response from its Date, and so counts up to a second too much (RFC 9111 section 4.2.3).
    func isLate(_ seen: [SeenRequest], now: Int64) -> Bool {
        guard isBrief, !isLater, let asked = seen.last(where: { $0.path == path }) else { return false }
        return now - asked.respondedAt >= Int64(Self.briefSeconds - 1) * 1_000_000_000
    }

    func naming(_ asked: SeenRequest, _ idOf: (String) -> String?) -> Verdict {
        if asked.namesUnknown {
            return .fail("\(path): Available-Dictionary: expected the SHA-256 of a body, or no field")
        }
        if let named = asked.named, asked.id != idOf(named) {
            return .fail("\(path): Dictionary-ID: expected \(text(idOf(named))), came \(text(asked.id))")
        }
        switch names {
        case .any: return .pass
        case .body(let wanted) where asked.named == wanted: return .pass
        case .body(let wanted) where asked.named == nil: return .notTried("\(path) does not name \(wanted)")
        case .onlyWithoutDestinations(let wanted) where asked.named == wanted || asked.named == nil:
            return .pass
        case .nothing where asked.named == nil: return .pass
        case .nothingYet where asked.named == nil && !asked.acceptsDictionaries: return .pass
        case .nothingYet where asked.named == nil:
            return .fail("\(path): Accept-Encoding: expected no dcb and no dcz without a dictionary")
        case .body(let wanted), .onlyWithoutDestinations(let wanted):
            return .fail("\(path): expected the body of \(wanted) to be named, came \(text(asked.named))")
        case .nothing, .nothingYet:
            return .fail("\(path): expected no dictionary to be named, came the body of \(text(asked.named))")
        }
    }

    private func body(
        _ seen: [SeenRequest], _ asked: SeenRequest, _ delivered: Delivered, _ bodies: JudgeBodies
    ) -> Verdict {
        let plain = bodies[path].map { Delivered.body($0.digest) }
        switch sends {
        case .redirect, .missing: return .pass
        case .unasked:
            if case .nothing = delivered { return .pass }
            return .fail("\(path): expected an error, came a body")
        case .damaged where asked.coding.usesDictionary:
            if case .nothing = delivered { return .pass }
            let isRetried = seen.contains { $0.path == path && !$0.coding.usesDictionary }
            return delivered == plain && isRetried
                ? .pass : .fail("\(path): expected an error or a second request, came another body")
        case .body, .window, .damaged:
            if case .body = names, !asked.coding.usesDictionary {
                return .notTried("\(path) accepts no coding for this dictionary")
            }
            if needsConfirmation, asked.status != .notModified {
                return .notTried("\(path) was asked for without If-None-Match")
            }
            if delivered == plain { return .pass }
            guard case .nothing(let reason) = delivered else {
                return .fail("\(path): expected the body, came another one")
            }
            // Nobody must take bodies of any length.
            let isLarge = (bytes ?? 0) > 8 << 20
            return isLarge
                ? .notTried("\(path) is too large") : .fail("\(path): expected the body, came \(reason)")
        }
    }

    private func text(_ value: String?) -> String { value ?? "none" }
}

extension ClientRule {
    func verdict(of steps: [Verdict], seen: [SeenRequest]) -> Verdict {
        // Whatever the client does by itself keeps to the rules, too.
        let own = others.flatMap { other in
            seen.filter { $0.path == other.path }.map { other.naming($0) { _ in nil } }
        }
        for verdict in steps + own {
            if case .fail(let text) = verdict { return isAdvice ? .notTried(text) : verdict }
        }
        if let needed, !seen.contains(where: { $0.path == needed }) {
            return .notTried("\(needed) was not asked for")
        }
        return steps.first { $0 != .pass } ?? .pass
    }
}
