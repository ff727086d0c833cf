/// The rule by which clients follow redirects (RFC 9110 section 15.4); pure.
package enum Redirect {
    /// The number of redirects that a request may lead to.
    package static let countMax = 10

    /// The fields that no other origin gets, in lower case.
    package static let credentialFields = ["authorization", "cookie"]

    /// The fields that go with the content, in lower case.
    package static let contentFields = ["content-type", "content-length", "content-encoding"]

    /// Returns the next method, and whether it takes the content along; nil if the status is no redirect.
    package static func next(status: Int, method: String) -> (method: String, keepsContent: Bool)? {
        guard [301, 302, 303, 307, 308].contains(status) else { return nil }
        let becomesGet = status == 303 && method != "HEAD" || [301, 302].contains(status) && method == "POST"
        return becomesGet ? ("GET", false) : (method, true)
    }
}
