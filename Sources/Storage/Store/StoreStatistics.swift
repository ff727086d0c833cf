/// The contents of a store and its activity since it was opened.
package struct StoreStatistics: Sendable, Equatable {
    /// A reason why a version left the index.
    package enum Eviction: String, CaseIterable, Sendable {
        /// Its chain exceeded the versions that its route keeps (`private_versions`).
        case versions
        /// Its holders have been offered other versions.
        case unheld
        /// Its holders have been silent for far longer than the clients of its chain usually are.
        case silent
        /// It was not wanted for `max_age`.
        case age
        /// The store exceeded `max_size`.
        case size
        /// Private versions exceeded `private_max_size`.
        case `private`
        /// The store exceeded `max_chains`.
        case chains
        /// Authorities without a returned client exceeded their share.
        case authority
        /// Chains in probation exceeded their share.
        case probation
        /// Another node made it, and no second request wanted it here.
        case unused
        /// The disk could not be written and memory was full.
        case memory
        /// Its body could not be read, or did not match its digest.
        case damaged
        /// An operator removed it.
        case removed
    }

    package var versions = 0
    package var chains = 0
    /// The chains that have had fewer requests than `Chain.requestsToEstablish`, of the implied route.
    package var chainsInProbation = 0
    /// The bytes of bodies in memory and of reserved copies.
    package var memoryBytes = 0
    /// The bytes of packed bodies in memory and their bases.
    package var packedBytes = 0
    /// The bytes of the index in the same budget, within a tenth.
    package var indexBytes = 0
    /// The bytes in use of the budget of memory.
    package var budgetBytes: Int { memoryBytes + packedBytes + indexBytes }
    /// The bytes of database, log and log index, as of the last write.
    package var diskBytes = 0
    package var pendingWrites = 0
    /// The bodies that made a new version.
    package var admissions = 0
    /// The bodies that their chain had already.
    package var returns = 0
    package var evictions: [Eviction: Int] = [:]
    package var refusals: [AdmissionRefusal: Int] = [:]
    package var loads = 0
    package var loadFailures = 0
    package var transactions = 0
    /// The bytes of written bodies, before and after packing.
    package var bodyBytesWritten = 0
    package var bodyBytesStored = 0
    package var writeErrors = 0
    /// The damaged databases that were set aside.
    package var setAsides = 0
    /// The advertised dictionaries that were found, and those that were not.
    package var advertisedFound = 0
    package var advertisedUnknown = 0
    package var standings: [String: Int] = [:]
}
