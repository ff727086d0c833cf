/// All that the doctor has seen of a URL.
struct DoctorObservations: Sendable {
    let url: FetchURL
    var transport: DoctorTransport
    /// The answers of the URL, in their order.
    var probes: [DoctorProbe] = []
    /// What was offered as a dictionary, or would have had to be.
    var dictionary: DoctorDictionary?
    /// What an answer names by Link, where that could not be fetched, and why.
    var unlinked: (target: String, why: String)?
    /// Whether the URL is a document, which browsers ask for by navigation.
    var isDocument = false
    /// Whether the requests carry Authorization or a cookie.
    var hasCredentials = false
    /// Where the page is that fetches it.
    var page = PageOrigin.sameOrigin
    /// What a real browser got; nil where none was asked.
    var browser: Result<[DoctorBrowser.Fetch], DevToolsPipe.Failure>?
    /// Why there are no more answers.
    var failure: FetchError?

    init(url: FetchURL, transport: DoctorTransport) {
        self.url = url
        self.transport = transport
    }
}
