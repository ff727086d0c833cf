/// The rule by which clients follow redirects (RFC 9110 section 15.4); pure.
package enum Redirect {
    /// The number of redirects that a request may lead to, as curl has it.
    package static let countMax = 50

    /// The fields that go with the content, in lower case.
    package static let contentFields = ["content-type", "content-length", "content-encoding"]

    /// Returns the next method, and whether it takes the content along; nil if the status is no redirect.
    package static func next(status: Int, method: String) -> (method: String, keepsContent: Bool)? {
        guard [301, 302, 303, 307, 308].contains(status) else { return nil }
        let becomesGet = status == 303 && method != "HEAD" || [301, 302].contains(status) && method == "POST"
        return becomesGet ? ("GET", false) : (method, true)
    }

    /// Returns true if a field of the app or the user goes along to the next URL: another origin gets no credentials.
    package static func takesAlong(_ field: String, toOtherOrigin isOther: Bool, keepsContent: Bool) -> Bool {
        if !keepsContent, contentFields.contains(field.lowercased()) { return false }
        return !isOther || NeutralFields.have(field)
    }
}
