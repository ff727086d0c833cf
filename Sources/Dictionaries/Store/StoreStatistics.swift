/// What the store holds and has done since it was opened.
package struct StoreStatistics: Sendable, Equatable {
    /// Why a version left the index.
    package enum Eviction: String, CaseIterable, Sendable {
        /// Beyond the `versions` of its chain.
        case versions
        /// Its holders have been offered others.
        case unheld
        /// Its holders have been silent for far longer than clients of its chain usually are.
        case silent
        /// `max_age` since it was last wanted.
        case age
        /// `max_size` of the store.
        case size
        /// `private_max_size` of the store: of private versions, by others of them.
        case `private`
        /// `max_chains` of the store.
        case chains
        /// The share of the store for authorities to which no client has come back.
        case authority
        /// The share of the store for chains in probation.
        case probation
        /// The disk takes nothing and memory is full.
        case memory
        /// Its body could not be read, or is not what its digest says.
        case damaged
        /// An operator removed it.
        case removed
    }

    package var versions = 0
    package var chains = 0
    /// Those of the chains that nobody has asked for again.
    package var chainsInProbation = 0
    /// Hot bodies and reserved copies.
    package var memoryBytes = 0
    /// Packed bodies in memory, with what they lean on.
    package var packedBytes = 0
    /// What the index takes of the same budget, within a tenth.
    package var indexBytes = 0
    /// Database, log and the index over it; as of the last write.
    package var diskBytes = 0
    /// Changes that are not on disk yet.
    package var pendingWrites = 0
    /// Bodies that made a new version.
    package var admissions = 0
    /// Bodies that returned to a chain they were in.
    package var returns = 0
    /// Notes of `lastWanted` that were due to be written.
    package var touches = 0
    package var evictions: [Eviction: Int] = [:]
    package var refusals: [AdmissionRefusal: Int] = [:]
    package var loads = 0
    package var loadFailures = 0
    package var transactions = 0
    /// What the bodies that were written have, and what they took.
    package var bodyBytesWritten = 0
    package var bodyBytesStored = 0
    package var writeErrors = 0
    /// Databases that were damaged and set aside.
    package var setAsides = 0
    /// Dictionaries that clients advertised: those that were found, and the others.
    package var advertisedFound = 0
    package var advertisedUnknown = 0
    /// The number of versions by what is known of their holders.
    package var standings: [String: Int] = [:]
}
