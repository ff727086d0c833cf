internal import Dictionaries
internal import Testing

/// RFC 9842 section 9.3.3.
struct CrossOriginTests {
    @Test(
        arguments: [
            (nil, nil, nil, nil, true), (nil, "no-cors", nil, nil, true),
            ("same-origin", "no-cors", nil, nil, true), ("cross-site", nil, nil, nil, true),
            ("cross-site", "navigate", nil, nil, true), ("same-site", "same-origin", nil, nil, true),
            ("cross-site", "no-cors", "https://a", "*", false),
            ("same-site", "no-cors", nil, nil, false), ("none", "no-cors", nil, nil, false),
            ("none", "navigate", nil, nil, true),
            ("cross-site", "cors", "https://a", "*", true),
            ("cross-site", "cors", "https://a", "https://a", true),
            ("cross-site", "cors", "https://a", "https://b", false),
            ("cross-site", "cors", "https://a", nil, false),
            ("cross-site", "cors", nil, "*", false), ("cross-site", "cors", "https://a", "https://A", false),
            ("cross-site", "cors", "null", "null", true),
            ("cross-site", "websocket", "https://a", "*", false), ("cross-site", "", "https://a", "*", false),
            ("", "no-cors", nil, nil, false),
            ("Same-Origin", "no-cors", nil, nil, false),
        ] as [(String?, String?, String?, String?, Bool)])
    func `the rule holds for every combination`(
        site: String?, mode: String?, origin: String?, allowed: String?, allows: Bool
    ) {
        var request = RequestFacts()
        request.secFetchSite = site.map(SecFetchSite.init)
        request.secFetchMode = mode.map(SecFetchMode.init)
        request.origin = origin
        var response = ResponseFacts()
        response.accessControlAllowOrigin = allowed
        #expect(CrossOrigin.allowsDictionary(request: request, response: response) == allows)
    }

    @Test(
        arguments: [
            (nil, true), ("same-origin", true), ("none", true), ("same-site", false), ("cross-site", false),
            ("", false),
        ] as [(String?, Bool)])
    func `a dictionary of one user is for pages of the same origin`(site: String?, allows: Bool) {
        var plain = RequestFacts()
        plain.secFetchSite = site.map(SecFetchSite.init)
        #expect(CrossOrigin.allowsDictionaryOfOneUser(request: plain) == allows)
        let route = Facts.route { $0.scope = .private }
        let request = Facts.request {
            ($0.secFetchSite, $0.secFetchMode) = (site.map(SecFetchSite.init), .navigate)
            $0.hasWholeIdentity = true
        }
        #expect(Facts.decide(request, Facts.response(), route).reason == (allows ? .delta : .crossOrigin))
        #expect(
            Offer.obstacle(request: request, response: Facts.response(), policy: route)
                == (allows ? nil : .crossOrigin))
    }
}
