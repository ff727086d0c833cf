internal import Dictionaries
internal import HTTP

/// The script `/.dictum/own.js`, by which a page has its browser fetch the twin URLs of paths.
enum OwnScript {
    private static let path = TwinURL.prefix + ".js"
    private static let bytes = PackageResources.own_js
    private static let tag = ResponseEdits.entityTag(of: Digest(of: bytes.span))

    /// The same for everybody, so that every cache may keep it.
    private static let headers: Headers = {
        var headers = Headers()
        headers.append(.contentType, "text/javascript; charset=utf-8")
        headers.append(.cacheControl, "public, max-age=86400")
        headers.append(.etag, tag)
        headers.append(.xContentTypeOptions, "nosniff")
        headers.append(.crossOriginResourcePolicy, "same-origin")
        return headers
    }()

    static func isAsked(_ request: RequestHead) -> Bool {
        (request.method == .get || request.method == .head) && request.target.path == path
    }

    static func response(to request: RequestHead) -> (head: ResponseHead, body: [UInt8]) {
        let tags = request.headers.values(.ifNoneMatch)
        let isHeld = ETagForm.isNotModified(ifNoneMatch: tags, etag: EntityTag(tag))
        return (ResponseHead(status: isHeld ? .notModified : .ok, headers: headers), isHeld ? [] : bytes)
    }
}
