/// How the upstream coded an answer.
package enum UpstreamCoding: Equatable, Sendable {
    /// Not at all.
    case none
    /// By one coding that Dictum can undo: gzip, br or zstd.
    case known(ContentCoding)
    /// By another coding or by several: the body must stay as it is.
    case foreign

    /// Reads the members of Content-Encoding, which must be in lower case.
    package init(_ members: [String]) {
        // RFC 9110 section 8.4.1: identity ought not to be sent in Content-Encoding; it says nothing.
        var coding: String?
        for member in members where member != "identity" {
            guard coding == nil else {
                self = .foreign
                return
            }
            coding = member
        }
        switch coding {
        case nil: self = .none
        case "gzip", "x-gzip": self = .known(.gzip)
        case "br": self = .known(.br)
        case "zstd": self = .known(.zstd)
        default: self = .foreign
        }
    }
}
