/// Everything that the doctor has observed at a URL.
struct DoctorObservations: Sendable {
    let url: FetchURL
    var transport: DoctorTransport
    /// The responses of the URL in their order.
    var probes: [DoctorProbe] = []
    /// The response that was offered as a dictionary, or should have been.
    var dictionary: DoctorDictionary?
    /// The target of a Link that could not be fetched, and why.
    var unlinked: (target: String, why: String)?
    /// True if the URL is a document, which browsers request by navigation.
    var isDocument = false
    /// True if the requests carry Authorization or a cookie.
    var hasCredentials = false
    /// The origin of the page that fetches it.
    var page = PageOrigin.sameOrigin
    /// The results of a real browser; nil if none was used.
    var browser: Result<[DoctorBrowser.Fetch], DevToolsPipe.Failure>?
    /// The error that ended the examination.
    var failure: FetchError?

    init(url: FetchURL, transport: DoctorTransport) {
        self.url = url
        self.transport = transport
    }
}
