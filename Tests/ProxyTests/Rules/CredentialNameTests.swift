internal import Dictionaries
internal import HTTP
internal import Storage
internal import TestSupport
internal import Testing

@testable import Proxy

/// The names of credentials that the default settings know.
@Suite(.timeLimit(.minutes(40))) struct CredentialNameTests {
    static let fields = [
        "Api-Key", "X-Api-Key", "X-ApiKey", "X-Auth-Token", "X-Access-Token", "X-Session-Token",
        "X-Session-Id",
        "X-CSRF-Token", "X-Amzn-Oidc-Data", "X-Amzn-Oidc-Accesstoken", "X-Amzn-Oidc-Identity",
        "X-Goog-Iap-Jwt-Assertion", "X-Goog-Authenticated-User-Email", "X-Ms-Client-Principal",
        "X-Ms-Client-Principal-Name", "X-Forwarded-Email", "X-Forwarded-User",
        "X-Forwarded-Preferred-Username", "X-Forwarded-Access-Token", "Remote-User", "X-Remote-User",
        "X-Auth-Request-Email", "X-WebAuth-User", "Private-Token", "Job-Token", "DPoP", "X-Jwt",
        "X-Amz-Security-Token", "X-Authorization", "Proxy-Authorization", "Cf-Access-Jwt-Assertion",
        "Ocp-Apim-Subscription-Key", "X-Client-Secret", "X-User-Id", "X-Forwarded-Client-Cert", "Client-Cert",
        "X-SSL-Client-S-DN", "OIDC-CLAIM-email", "OIDC_CLAIM_email", "X-Functions-Key",
    ]

    static let queryNames = [
        "token", "id_token", "access_token", "accessToken", "refresh_token", "jwt", "session", "session_id",
        "PHPSESSIONID", "sid", "password", "passwd", "pwd", "code", "client_secret", "a[token]",
        "a%5Btoken%5D",
        "user.password", "api-key", "apiKey", "api_key", "key", "sig", "signature", "X-Amz-Signature",
        "X-Amz-Security-Token", "X-Goog-Signature", "X-Amz-Credential", "AWSAccessKeyId", "auth", "ticket",
        "SAMLResponse", "otp", "client_assertion",
    ]

    @Test(arguments: fields)
    func `a response to a request with a credential in a field is personal`(name: String) throws {
        let proxy = try TestProxy(
            json(Feed.bytes(version: 0, items: 40), "Cache-Control: max-age=60"), "personal: off")
        #expect(try proxy.fetch("/feed", "\(name): secret")["Use-As-Dictionary"] == nil)
        #expect(try proxy.fetch("/feed", "X-Else: secret")["Use-As-Dictionary"] != nil)
    }

    @Test(arguments: queryNames)
    func `a response to a request with a credential in its query is personal, and the log has no secret`(
        name: String
    ) throws {
        let proxy = try TestProxy(
            Origin(json(Feed.bytes(version: 0, items: 40), "Cache-Control: max-age=60")), "personal: off",
            isLogged: true)
        let answer = try proxy.fetch("/feed?page=1&\(name)=s3cr3t&b=2")
        #expect(answer["Use-As-Dictionary"] == nil)
        let lines = proxy.lastLines()
        #expect(lines.count == 1 && lines.allSatisfy { !$0.contains("s3cr3t") }, "\(lines)")
        #expect(lines.first?.contains("/feed?page=1&\(name)=-&b=2") == true, "\(lines)")
    }

    @Test(arguments: [
        "Accept", "User-Agent", "X-Requested-With", "X-Forwarded-For", "X-Request-Id", "Traceparent",
        "Sec-CH-UA", "If-None-Match", "Idempotency-Key", "Accept-Language", "X-Real-IP", "Sec-GPC",
    ])
    func `fields that everybody sends are nobody's`(name: String) {
        let configuration = Configuration()
        #expect(!configuration.personal(on: nil).matches(fieldName: name))
    }

    @Test(arguments: ["page=1", "limit=5&max_tokens=3", "q=token", "lang=de&country_code=de", "keys=1", ""])
    func `queries without a credential are nobody's`(query: String) {
        #expect(!Configuration().personal(on: nil).hasPersonalQuery(query))
    }
}
