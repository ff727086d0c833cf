internal import Dictionaries
internal import HTTP

/// An upstream's answer on its way to the client: what it is, what was decided, how far its body has come.
///
/// Owned by its exchange, on its loop.
final class Answer {
    /// What happens to the body.
    enum Stage {
        /// There is none.
        case bodiless
        /// It is collected, until it is whole or has been held for long enough.
        case holding
        /// It is whole, and being compared, hashed and coded.
        case preparing
        /// It is whole and coded, and goes out as fast as the client takes it.
        case sending([UInt8], offset: Int)
        /// The upstream's bytes go on untouched.
        case passing
        /// The upstream's coding is undone piece by piece, and no other put in its place.
        case decoding
        /// An encoder is being made by another thread; what comes meanwhile waits.
        case opening
        /// It goes through an encoder piece by piece.
        case coding(any Encoder)
        /// It has come whole, and its last bytes wait for the admission.
        case ending
    }

    /// The upstream's head, hop-by-hop fields removed.
    var head: ResponseHead
    var framing: BodyFraming
    var facts: ResponseFacts
    var stage = Stage.bodiless
    /// Whether the head has gone to the client.
    var isStarted = false
    /// Undoes the upstream's own coding, for the client or for the copy alone.
    var decoder: (any Decoder)?
    /// Whether the client gets the body decoded, so that everything from the decoder on is as if it came uncoded.
    var isDecoded = false
    /// The decoder's memory.
    var decoderMemory: MemoryLoan?
    /// The body as the upstream coded it; kept while it is held decoded.
    var original: Original?
    /// What has come while an encoder is being made.
    var pending: [UInt8] = []
    /// Where the body belongs if it becomes a version; nil where it must not.
    var place: Place?
    /// Whether its Cache-Control is the route's.
    var isCacheControlReplaced = false
    /// The id under which the body was offered before it had come whole.
    var promisedID: String?
    /// How the body is offered, if it is.
    var offerForm = OfferForm.inBand
    /// The place for the copy that may become a version; nil where there is no copy.
    var slot: AdmissionSlot?
    /// Why the store does not take the body, if it was asked and does not.
    var refusal: AdmissionRefusal?
    /// The body as far as it has come: held, or copied for admission.
    var collected: [UInt8] = []
    /// The stored body that this is: the upstream has confirmed it, or it is a dictionary's own URL.
    var stored: Body?
    /// The memory of what is held here of the body, or waits for the client.
    var heldMemory: MemoryLoan?
    /// The memory of the encoder of a body that goes on piece by piece.
    var encoderMemory: MemoryLoan?
    /// The memory of that encoder's check, if it is checked.
    var checkMemory: MemoryLoan?
    /// The bytes of the delta as far as it was made.
    var deltaBytes: Int?
    /// Whether the whole body has come, though it could not be dealt with yet.
    var isWhole = false
    /// Whether the encoder holds bytes back that the client should get soon.
    var needsFlush = false
    /// How much of the body had come when it began to go on piece by piece.
    var heldBytes = 0
    var passedBytes: UInt64 = 0
    /// The last bytes, which wait for the admission.
    var tail: [UInt8] = []
    var trailers = Headers()
    /// What has come and is not decoded yet, since the client takes no more just now.
    var undecoded: [UInt8] = []
    /// The trailers of a body that has come whole, and is not decoded whole yet.
    var awaitedEnd: Headers?
    /// Whether the decoder has more to do before it can take what comes next.
    var isDecodingBehind: Bool { isDecoded && (!undecoded.isEmpty || decoder?.hasMore == true) }
    /// The head to keep with the version, in wire form.
    var headToKeep: [UInt8]?

    init(_ head: consuming ResponseHead, framing: BodyFraming, facts: ResponseFacts) {
        self.head = head
        self.framing = framing
        self.facts = facts
    }

    /// Hands the head over to be sent, whole and without a copy: nobody asks for it afterwards.
    func takeHead() -> ResponseHead {
        var taken = ResponseHead(status: .ok, headers: Headers())
        swap(&taken, &head)
        return taken
    }

    /// A body as the upstream coded it.
    struct Original {
        let coding: ContentCoding
        /// Whether the client accepts that coding.
        let isAccepted: Bool
        var bytes: [UInt8] = []
    }

    /// The chain, URL and variant that a body belongs to.
    struct Place {
        /// Who may use the body as a dictionary.
        let audience: Audience
        /// The chain, URL and variant of the version.
        var key: VersionKey
        /// Whether the chain stands for the one that only the whole body tells.
        var isProvisional: Bool
        /// What the response offers, with its id once that is known; nil where the upstream offers it itself.
        var offer: UseAsDictionary?
        /// Whether the upstream named the chain itself.
        let isUpstreamMatch: Bool
    }
}
