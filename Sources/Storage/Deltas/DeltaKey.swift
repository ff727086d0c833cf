package import Dictionaries

/// The name of a delta: body, dictionary, coding and scope.
///
/// The parameters of the coding need no place here: they follow from these, and a delta made with stronger ones
/// replaces the former.
package struct DeltaKey: Hashable, Sendable {
    package let body: Digest
    package let dictionary: Digest
    package let coding: ContentCoding
    package let scope: DeltaScope

    package init(body: Digest, dictionary: Digest, coding: ContentCoding, scope: DeltaScope) {
        self.body = body
        self.dictionary = dictionary
        self.coding = coding
        self.scope = scope
    }
}

/// The clients that may get a delta or use an index.
///
/// It is a part of every key, so that nothing made for one scope is found in another.
package enum DeltaScope: Hashable, Sendable {
    /// The public chains of all authorities: the digests name the bytes, and any client may have them.
    case `public`
    /// Like `public`, over the built dictionary of a route, which serves the first responses of all clients.
    case built
    /// The chains whose versions have an id: a client that gets such a delta has proved that it holds the
    /// dictionary.
    case unlisted
    /// One private chain, by its name as opaque bytes.
    case `private`(chain: [UInt8])

    /// The level of an index for dcz.
    ///
    /// Of a built dictionary a body has pieces only, and a longer search finds more of them: at level 9 deltas are 4 to 29 %
    /// shorter than at 3, and take two to five times as long.
    package var zstdLevel: Int { self == .built ? 9 : 3 }

    /// The bytes of memory that the scope adds to a key.
    var memoryBytes: Int {
        switch self {
        case .public, .built, .unlisted: 0
        case .private(let chain): chain.capacity + 32
        }
    }
}

/// The outcome of making a delta: a `VerifiedDelta`, or the bytes of a delta.
package enum DeltaOutcome<Delta: Sendable & Equatable>: Sendable, Equatable {
    /// The delta is made, and shorter than the body.
    case coded(Delta)
    case notShorter
    case failed(DeltaFailure)
}

package enum DeltaFailure: Sendable, Equatable {
    /// The library failed.
    case coding
    /// The delta did not decode to the body.
    case inexact
    /// No encoder was free.
    case busy
}

extension DeltaOutcome<VerifiedDelta> {
    /// The same outcome with the bytes alone.
    package var bytes: DeltaOutcome<[UInt8]> {
        switch self {
        case .coded(let delta): .coded(delta.bytes)
        case .notShorter: .notShorter
        case .failed(let failure): .failed(failure)
        }
    }
}
