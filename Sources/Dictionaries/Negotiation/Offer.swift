/// The rules for offering a response as a dictionary; see the article Rules.
package enum Offer {
    /// Returns the reason why the response carries no Use-As-Dictionary of Dictum's; nil if it may, once its body
    /// is in the chain.
    ///
    /// For a 304 the facts are those of the 304, with the status 200 and the type of the stored response.
    package static func obstacle(
        request: RequestFacts, response: ResponseFacts, policy: RoutePolicy
    ) -> Reason? {
        obstacle(request: request, ofAdmissible: response, policy: policy)
            ?? Admission.obstacle(request: request, response: response, policy: policy)
    }

    /// Returns the same for a response that may become a version.
    package static func obstacle(
        request: RequestFacts, ofAdmissible response: ResponseFacts, policy: RoutePolicy
    ) -> Reason? {
        if response.hasUseAsDictionary { return .offeredUpstream }
        return policy.dictionaryObstacle(request: request, response: response)
    }
}
