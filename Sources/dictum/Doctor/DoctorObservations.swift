internal import Dictionaries
internal import HTTP

struct DoctorObservations: Sendable {
    let url: FetchURL
    var method = Method.get
    /// The transport between a browser and the first server, as far as it matters for dictionaries.
    var transport: DoctorFinding
    /// True if the requests let the server choose HTTP/2, as browsers do over TLS.
    var offersHTTP2 = false
    /// The responses of the URL in their order.
    var probes: [DoctorProbe] = []
    /// The response that was offered as a dictionary, or should have been.
    var dictionary: DoctorDictionary?
    /// The target of a Link that could not be fetched, and why.
    var unlinked: (target: String, why: String)?
    /// The response of the twin URL, if it is a dictionary over which the URL's responses come.
    var twin: DoctorDictionary?
    /// True if the URL is a document, which browsers request by navigation.
    var isDocument = false
    var credentials: RequestCredentials = []
    var page = PageOrigin.sameOrigin
    /// The results of a real browser; nil if none was used.
    var browser: Result<[DoctorBrowser.Fetch], CommandError>?
    var failure: FetchError?

    /// True if the response of the URL is for one user, and a browser does not keep it for long.
    var needsTwin: Bool {
        guard page == .sameOrigin, let dictionary, dictionary.source == .own, dictionary.offer != nil else {
            return false
        }
        let headers = dictionary.response.head.headers
        let isPrivate = CacheControl(headers.values(.cacheControl)).isPrivate
        return (!credentials.isEmpty || isPrivate || headers.contains(.setCookie))
            && !dictionary.judgement.isKeptLong
    }
}

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
