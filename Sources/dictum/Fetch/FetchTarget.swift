internal import Dictionaries
internal import HTTP

/// The request of a fetch, which changes from redirect to redirect; pure.
struct FetchTarget: Sendable {
    let url: FetchURL
    let fields: RequestFields
    let content: FetchContent

    /// Returns the request that a response redirects to; nil if it is no redirect.
    ///
    /// Another origin gets no credentials.
    func next(after head: ResponseHead) throws(FetchError) -> FetchTarget? {
        let rule = Redirect.next(status: Int(head.status.rawValue), method: content.method.text)
        guard let rule, let location = head.headers.first(.location) else { return nil }
        guard let next = FetchURL(location, relativeTo: url) else { throw .redirect(location) }
        var dropped: [String] = rule.keepsContent ? [] : Redirect.contentFields
        if next.origin != url.origin { dropped += Redirect.credentialFields }
        return FetchTarget(
            url: next, fields: fields.without(dropped), content: content.redirected(rule))
    }
}
