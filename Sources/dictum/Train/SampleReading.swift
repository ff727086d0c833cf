internal import Dictionaries
internal import HTTP
internal import Storage

extension TrainingSamples {
    /// Adds the responses of a source, which the operator vouches for.
    ///
    /// - Parameter filesAreResources: True if each file of a folder without folders is a response of its own, and not a
    ///   version of the same.
    mutating func add(_ history: ResourceHistory, _ estimator: Estimator, filesAreResources: Bool) {
        let isMany = filesAreResources && history.isFlatFolder
        let url = PathAndQuery(path: history.url.path, query: history.url.query)
        for (number, response) in history.responses.enumerated() {
            add(
                TrainingSample(
                    resource: history.name + (isMany ? "/\(number)" : ""),
                    authority: history.isReal ? history.url.authority : nil, url: url, body: response.body),
                unless: Self.exclusion(of: response, history, estimator))
        }
    }

    private static func exclusion(
        of response: ResourceHistory.Response, _ history: ResourceHistory, _ estimator: Estimator
    ) -> Exclusion? {
        // `public` may be a mistake, and a credential is none.
        let (request, facts) = estimator.facts(of: history, headers: response.headers ?? Headers())
        if !response.credentials.isEmpty || request.hasPersonalQuery { return .credentials }
        if facts.cacheControl.noStore { return .noStore }
        let policy = estimator.policy.personal
        // Browsers leave cookies and Authorization out of the HAR files that they save.
        let isPersonal =
            Personal.mayVaryByUser(facts, policy: policy)
            || Personal.isPersonal(request: request, response: facts, policy: policy)
        return isPersonal ? .personal : nil
    }

    /// Adds the versions of a store whose bodies are proven to be public: several client addresses got the same bytes by
    /// requests without a credential (`PublicProof`).
    ///
    /// A dictionary that a route has built is not: the operator vouches for it, and it is no response.
    mutating func add(_ catalogue: StoreCatalogue) throws {
        for version in try catalogue.versions() where version.chainKey.scope == .public {
            guard case .sound(let body) = try catalogue.body(of: version) else { continue }
            add(TrainingSample(version, body), unless: version.isProvenPublic ? nil : .unproven)
        }
    }
}
