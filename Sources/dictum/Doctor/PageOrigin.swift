internal import HTTP

/// The origin of the page that fetches a URL; it decides what browsers send and keep.
enum PageOrigin: String, Equatable, Sendable {
    /// The page has the URL's scheme, host and port.
    case sameOrigin = "same-origin"
    /// The page has another host or port of the same site.
    case sameSite = "same-site"
    /// The page is of another site, where Chromium uses no dictionary.
    case crossSite = "cross-site"

    /// Compares a page's URL with the URL that it fetches.
    ///
    /// A site is the last two labels of a host name. There is no list of public suffixes, so two sites below a
    /// suffix of two labels look like one.
    init(of page: FetchURL, fetching url: FetchURL) {
        if page.origin == url.origin {
            self = .sameOrigin
        } else if page.isTLS == url.isTLS, Self.site(page.host) == Self.site(url.host) {
            self = .sameSite
        } else {
            self = .crossSite
        }
    }

    private static func site(_ host: String) -> String {
        let name = host.lowercased()
        guard IPAddress(name) == nil else { return name }
        return name.split(separator: ".").suffix(2).joined(separator: ".")
    }
}
