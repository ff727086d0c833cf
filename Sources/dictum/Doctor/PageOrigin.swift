internal import HTTP

/// Where the page is that fetches a URL: by that browsers decide what they send and keep.
enum PageOrigin: String, Equatable, Sendable {
    /// The page has the URL's own scheme, host and port.
    case sameOrigin = "same-origin"
    /// Another host or port of the same site.
    case sameSite = "same-site"
    /// Another site: Chromium uses no dictionary there.
    case crossSite = "cross-site"

    /// Compares a page's URL with the one that it fetches.
    ///
    /// A site is taken for the last two labels of a name, without a list of public suffixes; a public suffix of two labels
    /// makes two sites look like one.
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
