/// Whether an answer may be offered as a dictionary, and in which form: the contract's paragraph of that name.
package enum Offer {
    /// Why the answer is not to carry Use-As-Dictionary of ours; nil where it may, once its body is in the chain.
    ///
    /// For a 304 the facts are those of the 304 with the status 200 and the type of the stored answer.
    package static func obstacle(
        request: RequestFacts, response: ResponseFacts, policy: RoutePolicy
    ) -> Reason? {
        if response.hasUseAsDictionary { return .offeredUpstream }
        if let reason = policy.dictionaryObstacle(request: request, response: response) { return reason }
        return Admission.evaluate(request: request, response: response, policy: policy).reason
    }

    /// Whether the answer of a dictionary's own URL may carry Use-As-Dictionary: its body was admitted long ago.
    package static func mayCarry(
        request: RequestFacts, response: ResponseFacts, policy: RoutePolicy
    ) -> Bool {
        policy.dictionaryObstacle(request: request, response: response) == nil
    }
}
