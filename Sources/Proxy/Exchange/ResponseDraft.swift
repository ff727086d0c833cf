internal import Dictionaries
internal import HTTP
internal import Storage

/// A response of the upstream, or of the store in its place: its head, its facts and the decisions about it.
struct UpstreamResponse {
    /// The head without the fields of the upstream's connection.
    var head: ResponseHead
    var facts = ResponseFacts()
    /// The target of the body if it becomes a version; nil if it must not.
    var target: AdmissionTarget?
    var offerForm = OfferForm.inBand
    /// The head to keep with the version, in wire form.
    var headToKeep: [UInt8]?
    /// True if its Cache-Control is the route's.
    var isCacheControlReplaced = false
}

/// A response whose head has not been sent; every decision and every edit of the head takes this type.
///
/// Sending the head consumes it, so that no edit can come too late.
struct ResponseDraft: ~Copyable {
    var response: UpstreamResponse
    var framing: BodyFraming
    /// The stored body that this is: the upstream has confirmed it, or it is a dictionary's own URL.
    var stored: Body?
    var refusal: AdmissionRefusal?
    /// The id under which the body is offered before it is whole.
    var promisedID: String?

    init(_ head: consuming ResponseHead, framing: BodyFraming, stored: Body? = nil) {
        response = UpstreamResponse(head: head)
        self.framing = framing
        self.stored = stored
    }

    /// Hands the head over without a copy, and leaves an empty one.
    mutating func takeHead() -> ResponseHead {
        var head = ResponseHead(status: response.head.status)
        swap(&head, &response.head)
        return head
    }
}

/// A response whose head has been sent: only its body can still go out.
struct SentResponse: ~Copyable {
    /// The length of the body, if the head told it.
    let length: UInt64?
    /// True if the client gets other bytes than those that the upstream sent.
    var isCodingChanged = false
    /// The facts for the admission of the body, if it is copied while it is sent.
    var promise: Promise?

    /// A response whose head may have offered its body before that was whole.
    ///
    /// A class, so that a phase holds one reference, which is nil for most responses.
    final class Promise {
        let response: UpstreamResponse
        let id: String?

        init(_ response: UpstreamResponse, id: String?) {
            self.response = response
            self.id = id
        }
    }

}

/// A draft that waits for its body; by reference, since a phase is asked for often and nearly never has one.
final class WaitingDraft {
    private var draft: ResponseDraft?

    init(_ draft: consuming ResponseDraft) { self.draft = consume draft }

    func take() -> ResponseDraft? { draft.take() }
}

/// The progress of an exchange's response.
enum ResponsePhase: ~Copyable {
    /// There is no response yet, or a function that decides about it has taken it out.
    case awaited
    /// The head is decided, except for fields that depend on the held body.
    case waiting(WaitingDraft)
    case sent(SentResponse)
    /// Both connections have changed their protocol.
    case tunnel
    /// The exchange is accounted for.
    case over

    var isAwaited: Bool {
        switch self {
        case .awaited: true
        default: false
        }
    }

    var isSent: Bool {
        switch self {
        case .sent: true
        default: false
        }
    }

    var isTunnel: Bool {
        switch self {
        case .tunnel: true
        default: false
        }
    }

    var isOver: Bool {
        switch self {
        case .over: true
        default: false
        }
    }

    /// The terms under which the body that goes out was offered.
    var promise: SentResponse.Promise? {
        switch self {
        case .sent(let sent): sent.promise
        default: nil
        }
    }

    static func draft(_ draft: consuming ResponseDraft) -> ResponsePhase { .waiting(WaitingDraft(draft)) }

    /// Takes the draft out, to decide about it; nil if there is none.
    mutating func takeDraft() -> ResponseDraft? {
        switch consume self {
        case .waiting(let draft):
            self = .awaited
            return draft.take()
        case let other:
            self = other
            return nil
        }
    }
}
