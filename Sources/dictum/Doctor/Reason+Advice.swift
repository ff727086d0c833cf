internal import Dictionaries

extension Reason {
    /// True if it keeps a response from being offered, and not only this client from a delta.
    var keepsFromOffer: Bool {
        switch self {
        case .crossOrigin, .insecureTransport, .personal, .identityIncomplete, .pathNotNormal, .routeOff,
            .switchedOff,
            .authorityOff, .heldOut, .ineligibleType, .ineligibleSize, .codedUpstream, .eventStream,
            .offeredUpstream:
            true
        default: false
        }
    }

    /// What it means and what to do; nil if there is nothing to do.
    var advice: String? {
        switch self {
        case .noStore: "remove no-store if the response may be kept, or set store_despite: [no-store]"
        case .varyAny: "have Vary name fields"
        case .personal: "the response belongs to one user, and personal is off"
        case .identityIncomplete:
            "an item of identity is missing, or a cookie or Authorization is not covered by it"
        case .insecureTransport: "use TLS, or name the proxy in front in trusted_proxies"
        case .crossOrigin: "a page of another origin without CORS; allow the origin"
        case .pathNotNormal: "the path has dot segments, // or needless escapes"
        case .routeOff: "no route matches, or its dictionary is off"
        case .switchedOff: "dictionaries are off in the configuration or by the switch"
        case .ineligibleType:
            "the type is not in compression.types; add it there if its bodies resemble one another"
        case .eventStream:
            "an event stream becomes no dictionary; text/event-stream in compression.types has it compressed"
        case .ineligibleSize: "shorter than compression.min_size or longer than max_body"
        case .codedUpstream: "the upstream's coding is unknown, or must stay"
        case .noTransform: "the response says no-transform"
        case .offeredUpstream: "the upstream offers dictionaries itself"
        case .authorityOff: "the Host is not in authorities"
        case .codingNotAccepted:
            "Accept-Encoding has neither dcz nor dcb: something in front of Dictum removes them"
        case .dictionaryNotKept:
            "the client kept an earlier response and names no dictionary: it kept none (`dictum doctor` says why), or does not support them"
        case .clientNew:
            "the client names no dictionary: it is new, or does not support them; one request cannot tell"
        case .dictionaryUnknown: "the dictionary is not here for this URL"
        case .dictionaryCold: "the dictionary could not be read in time"
        case .verifyFailed: "a delta did not decode; see the log"
        case .busy: "no CPU or memory for the coding"
        case .heldOut: "held out by the experiment"
        case .notModified: "304: the client had the response already, so there was nothing to send"
        case .notShorter: "a delta would be no shorter"
        default: nil
        }
    }
}
