package import Dictionaries

/// A client meets a body: what becomes of the body, and whether the response offers it.
///
/// The exchange, the observer and the simulated day all ask this value. It does no I/O.
package struct Encounter {
    package enum Outcome {
        /// The body is the newest version of its URL, and is offered as that.
        case newest(Version)
        /// The body becomes a version, or the newest one again, and is offered.
        case admission
        /// The chain has the body from another URL, so that it costs nothing to offer.
        case elsewhere(Version)
        /// No client gains by the version: it is neither made nor offered.
        case nothing
    }

    package let digest: Digest
    package let key: VersionKey
    /// The opaque-tag of the response's entity tag.
    package var etag: String?
    /// True if the body has been found to be that of the newest version.
    package var isNewest = false
    /// True if the body is a version whatever its client holds: it was promised, or more than this client waits for it.
    package var isAlwaysTaken = false
    /// The head to keep with the version.
    package var head: [UInt8]?
    /// The version that the client has come with, and that another would replace; nil for none.
    package var held: Version?
    /// The seconds for which the client keeps what it is offered; nil if no field says so.
    package var lifeSeconds: Int?
    /// The length of the delta over what the client holds; nil if it is not known.
    package var deltaBytes: Int?

    package init(digest: Digest, key: VersionKey) {
        self.digest = digest
        self.key = key
    }

    /// Returns the outcome; a body that is left out is noted, so that it is known when it returns.
    ///
    /// - Parameter isVersionElsewhere: True if another node has made the body a version, which makes it one for all nodes.
    package func outcome(
        in reader: DictionaryIndex.Reader, now: Int, isVersionElsewhere: @autoclosure () -> Bool = false
    ) -> Outcome {
        if isNewest, let newest = reader.newest(key, digest: digest, etag: etag), newest.canKeep(head) {
            return .newest(newest)
        }
        if isAlwaysTaken || reader.version(key, digest: digest) != nil
            || Renewal.isDue(of: held, lifeSeconds: lifeSeconds, deltaBytes: deltaBytes, now: now)
            || isVersionElsewhere() || held?.recordUnkept(digest) == true
        {
            return .admission
        }
        return reader.version(chain: key.chainKey, digest: digest).map(Outcome.elsewhere) ?? .nothing
    }
}
