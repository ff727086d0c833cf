internal import Dictionaries

/// The sizes of one resource's responses, by the age of the dictionary.
package protocol ResponseSizes: Sendable {
    /// The best coding without a dictionary.
    var plainBytes: Int { get }
    /// The average size of a version on disk: its body, packed, and its row.
    var packedBytes: Int { get }
    /// The least size of a delta over a dictionary of another URL.
    var otherURLBytes: Int { get }

    /// Returns the size of a delta over a dictionary of one second, for a body of another second.
    func deltaBytes(from dictionary: Int, to second: Int, _ stage: DeltaStage) -> Int
}

extension ResponseSizes {
    /// The bytes of a version's row and its places in the indexes.
    package static var rowBytes: Int { 250 }
}

/// The way in which Dictum has made a delta, which depends on what clients requested before.
package enum DeltaStage: Sendable {
    /// Over a dictionary that was not used before.
    case first
    /// Over an indexed dictionary.
    case indexed
    /// By the strongest pass, after several clients needed the same delta.
    case strongest
}

/// The requests for deltas so far, by dictionary and body.
struct DeltaSharing {
    private struct Pair: Hashable {
        let dictionary: Digest
        let body: Digest
    }

    /// The number of clients after which the strongest pass runs.
    private static let peersMin = 3
    private var requests: [Pair: Int] = [:]
    private var bodies: [Digest: Int] = [:]

    /// Records the request of so many clients; returns the stage of their delta.
    mutating func stage(of body: Digest, over dictionary: Digest, clients: Int) -> DeltaStage {
        let pair = Pair(dictionary: dictionary, body: body)
        let former = requests[pair, default: 0]
        requests[pair] = former + clients
        if former == 0 { bodies[dictionary, default: 0] += 1 }
        if former + clients / 2 >= Self.peersMin { return .strongest }
        return bodies[dictionary, default: 0] > 1 ? .indexed : .first
    }
}
