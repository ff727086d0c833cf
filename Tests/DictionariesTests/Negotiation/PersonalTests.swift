internal import Dictionaries
internal import Testing

/// The rules for personal responses: RFC 9111 sections 3.5 and 5.2.2.7, and the article Rules.
struct PersonalTests {
    /// The fields of a request that make a response personal.
    static let marks: [(String, @Sendable (inout RequestFacts) -> Void)] = [
        ("Authorization", { $0.hasAuthorization = true }), ("Cookie", { $0.hasCookie = true }),
        ("certificate", { $0.hasClientCertificate = true }), ("field", { $0.hasPersonalField = true }),
        ("query", { $0.hasPersonalQuery = true }),
    ]

    static func cause(
        _ cacheControl: String = "", vary: [String] = [], setCookies: [String] = [],
        cookiesIgnored: Bool = false,
        _ change: (inout RequestFacts) -> Void = { _ in }
    ) -> Personal.Cause? {
        let policy = Facts.route {
            $0.cookiesIgnored = cookiesIgnored
            $0.ignoredSetCookies = ["lb"]
        }.personal
        let response = Facts.response {
            $0.cacheControl = CacheControl([cacheControl])
            $0.varyNames = vary
            $0.setCookieNames = setCookies
        }
        return Personal.cause(request: Facts.request(change), response: response, policy: policy)
    }

    static func isPersonal(
        _ cacheControl: String = "", vary: [String] = [], cookiesIgnored: Bool = false,
        _ change: (inout RequestFacts) -> Void = { _ in }
    ) -> Bool {
        cause(cacheControl, vary: vary, cookiesIgnored: cookiesIgnored, change) != nil
    }

    @Test(arguments: [
        "private", "private=\"set-cookie\"", "public, private", "private, s-maxage=60",
        "private, must-revalidate, immutable",
    ])
    func `private makes a response personal and beats public`(cacheControl: String) {
        #expect(Self.cause(cacheControl) == .isPrivate)
    }

    @Test(arguments: ["x-api-key", "cf-access-jwt"])
    func `a Vary that names a personal field makes a response personal, whatever it says besides`(
        name: String
    ) {
        #expect(Self.cause("public, s-maxage=60", vary: ["origin", name]) == .variesOnField)
        #expect(Self.isPersonal(vary: [name], cookiesIgnored: true))
    }

    @Test(arguments: [["cookie"], ["authorization"], ["accept", "cookie"], ["cookie", "authorization"]])
    func `without the field that it varies on a request shares the anonymous variant`(vary: [String]) {
        for cacheControl in ["", "public", "max-age=5", "no-cache"] {
            #expect(!Self.isPersonal(cacheControl, vary: vary), "\(cacheControl)")
        }
    }

    @Test
    func `with the field that it varies on a request gets a personal response, whatever it says besides`() {
        for cacheControl in ["", "public", "s-maxage=60", "immutable, must-revalidate"] {
            #expect(Self.cause(cacheControl, vary: ["cookie"]) { $0.hasCookie = true } == .variesOnCookie)
            #expect(
                Self.cause(cacheControl, vary: ["authorization"]) { $0.hasAuthorization = true }
                    == .variesOnAuthorization)
        }
        #expect(Self.isPersonal(vary: ["cookie"], cookiesIgnored: true) { $0.hasCookie = true })
    }

    @Test(arguments: [["cookie"], ["accept", "authorization"], ["x-api-key"], ["*"]])
    func `of a request that is not known whole, a Vary on a credential says that it may have had one`(
        vary: [String]
    ) {
        let policy = Facts.route().personal
        let mayVary = Personal.mayVaryByUser(Facts.response { $0.varyNames = vary }, policy: policy)
        #expect(mayVary)
        let others = Facts.response { $0.varyNames = ["accept-encoding", "origin", "accept-language"] }
        #expect(!Personal.mayVaryByUser(others, policy: policy))
    }

    @Test func `a Vary on one of both says nothing of the other`() {
        #expect(!Self.isPersonal("public", vary: ["cookie"]) { $0.hasAuthorization = true })
        #expect(Self.cause(vary: ["cookie"]) { $0.hasAuthorization = true } == .authorization)
        #expect(!Self.isPersonal("public", vary: ["authorization"]) { $0.hasCookie = true })
        #expect(Self.cause(vary: ["authorization"]) { $0.hasCookie = true } == .cookie)
    }

    @Test
    func `a certificate, a personal field or a personal query is personal in the anonymous variant, too`() {
        #expect(Self.cause(vary: ["cookie"]) { $0.hasClientCertificate = true } == .certificate)
        #expect(Self.cause(vary: ["cookie"]) { $0.hasPersonalField = true } == .field)
        #expect(Self.cause(vary: ["cookie"]) { $0.hasPersonalQuery = true } == .query)
    }

    @Test(arguments: ["", "public", "s-maxage=60, immutable"])
    func `a cookie that is set makes a response personal, unless the route says otherwise`(
        cacheControl: String
    ) {
        #expect(Self.cause(cacheControl, setCookies: ["sid"]) == .setCookie)
        #expect(Self.cause(cacheControl, setCookies: ["lb", "sid"]) == .setCookie)
        #expect(Self.cause(cacheControl, setCookies: ["LB"]) == .setCookie)
        #expect(Self.cause(cacheControl, setCookies: ["lb"]) == nil)
    }

    @Test(arguments: ["origin", "x-api-keys", "cf-acces", "accept-encoding", "*"])
    func `another Vary does not`(name: String) {
        #expect(!Self.isPersonal(vary: [name]))
    }

    @Test(arguments: marks.indices)
    func `what is somebody's own in the request makes a response personal`(index: Int) {
        for cacheControl in [
            "", "max-age=60", "no-cache", "s-maxage=x", "public=1", "immutable=1", "must-revalidate=1",
        ] {
            #expect(
                Self.isPersonal(cacheControl, Self.marks[index].1), "\(Self.marks[index].0), \(cacheControl)")
        }
    }

    @Test(arguments: marks.indices)
    func `public and s-maxage lift the request's part`(index: Int) {
        for cacheControl in ["public", "s-maxage=60", "max-age=0, PUBLIC"] {
            #expect(
                !Self.isPersonal(cacheControl, Self.marks[index].1), "\(Self.marks[index].0), \(cacheControl)"
            )
        }
    }

    @Test(arguments: marks.indices)
    func `must-revalidate lifts it for Authorization only, immutable for Cookie only`(index: Int) {
        let (name, change) = Self.marks[index]
        #expect(Self.isPersonal("must-revalidate", change) == (name != "Authorization"), "\(name)")
        #expect(Self.isPersonal("immutable", change) == (name != "Cookie"), "\(name)")
        #expect(Self.isPersonal("", cookiesIgnored: true, change) == (name != "Cookie"), "\(name)")
    }

    @Test func `what is lifted for one mark is not lifted for another`() {
        #expect(Self.isPersonal("must-revalidate", { ($0.hasAuthorization, $0.hasCookie) = (true, true) }))
        #expect(Self.isPersonal("immutable", { ($0.hasAuthorization, $0.hasCookie) = (true, true) }))
        #expect(
            !Self.isPersonal(
                "immutable, must-revalidate", { ($0.hasAuthorization, $0.hasCookie) = (true, true) }))
    }

    @Test(arguments: marks.indices)
    func `a request with any mark is somebody's`(index: Int) {
        let (name, change) = Self.marks[index]
        #expect(!Facts.request(change).isNobodys, "\(name)")
        #expect(Facts.request().isNobodys)
    }

    @Test func `an exchange without any mark is not personal`() {
        #expect(!Self.isPersonal())
    }

    @Test(arguments: [
        ("x-api-key", true), ("X-API-Key", true), ("x-api-key2", false), ("x-api-ke", false),
        ("cf-access-", true), ("CF-Access-Jwt", true),
        ("cf-access", false), ("", false),
    ])
    func `field names match without case, patterns by their beginning`(name: String, matches: Bool) {
        let policy = PersonalPolicy(fieldPatterns: ["X-Api-Key", "cf-access-*"])
        #expect(policy.matches(fieldName: name) == matches)
    }

    @Test(arguments: [
        ("private-token", true), ("X-TOKEN", true), ("token", false), ("-token", true), ("x-tokens", false),
        ("x-session-id", true), ("sessionless", true), ("session", true), ("sessio", false),
        ("x-amzn-oidc-data", true), ("y-amzn-oidc-data", false), ("x*y", false),
    ])
    func `a star stands for any characters at either end of a field name`(name: String, matches: Bool) {
        let policy = PersonalPolicy(fieldPatterns: ["*-Token", "*session*", "x-amzn-oidc-*", "*-oken-*"])
        #expect(policy.matches(fieldName: name) == matches)
    }

    @Test func `a star alone stands for every name`() {
        #expect(PersonalPolicy(fieldPatterns: ["*"]).matches(fieldName: "x"))
        #expect(PersonalPolicy(queryNames: ["*"]).hasPersonalQuery("x=1"))
        let encoded = String(repeating: "%61", count: 256) + "=1"
        #expect(PersonalPolicy(queryNames: ["*"]).hasPersonalQuery(encoded), "a name has its length decoded")
    }

    @Test(arguments: [
        ("a[token]=1", true), ("a%5Btoken%5D=1", true), ("a[b][TOKEN]", true), ("a.token=1", true),
        ("token.a=1", true), ("token[]=1", true), ("a[tokens]=1", false), ("a=b[token]", false),
        ("a[id_token]=1", false), ("my.session.id=1", true), ("a[]=token", false), ("[]=1", false),
    ])
    func `each part of a name with brackets or dots is a name`(query: String, isPersonal: Bool) {
        let policy = PersonalPolicy(queryNames: ["token", "*session*"])
        #expect(policy.hasPersonalQuery(query) == isPersonal)
    }

    @Test(arguments: [
        ("token=1", true), ("a=1&token=2", true), ("TOKEN=1", true), ("token", true), ("a&token", true),
        ("%74oken=1", true), ("t%6Fk%65n", true),
        ("%54OKEN=1", true), ("a;token=1", true), ("x-key=1", true), ("=token", false), ("a=token", false),
        ("a=b=token", false), ("tokens=1", false),
        ("token2", false), ("a=%26token=1", false), ("%2574oken=1", false), ("t%6Gken=1", false), ("", false),
        ("&&", false),
        (String(repeating: "a", count: 5000) + "&token", true),
        (String(repeating: "%61", count: 5000), false),
    ])
    func `names in the query match decoded and without case`(query: String, isPersonal: Bool) {
        let policy = PersonalPolicy(queryNames: ["Token", "x-key"])
        #expect(policy.hasPersonalQuery(query) == isPersonal)
    }

    @Test func `no query has no personal name`() {
        #expect(!PersonalPolicy(queryNames: ["token"]).hasPersonalQuery(nil))
        #expect(!PersonalPolicy().hasPersonalQuery("token=1"))
    }
}
