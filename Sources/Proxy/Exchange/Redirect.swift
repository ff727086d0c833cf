internal import HTTP
internal import Primitives

/// Where a plain request is sent on to.
enum Redirect {
    /// The URL of the request by https, at a port; nil where it names no host.
    static func location(of request: RequestHead, port: UInt16) -> String? {
        guard let authority = request.authority, let place = HostAndPort(authority), !place.host.isEmpty
        else {
            return nil
        }
        let host = place.host.contains(":") ? "[\(place.host)]" : place.host
        let target = request.target.form == .asterisk ? "/" : String(request.target.pathAndQuery.span)
        return "https://\(host)\(port == 443 ? "" : ":\(port)")\(target)"
    }
}
