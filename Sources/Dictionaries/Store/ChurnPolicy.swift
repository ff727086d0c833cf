/// By which numbers a chain is held back whose bodies change too often, or that covers too much.
///
/// `make bench` compares settings over a simulated day; the defaults were chosen with it.
package struct ChurnPolicy: Sendable {
    // The pace of admissions.
    /// How many dictionaries clients must have advertised before the interval changes.
    package var advertisedMin = 200
    /// The interval doubles while more than this share of them has been evicted.
    package var doublingPercent = 5
    /// The interval halves while less than this share of them has been evicted.
    package var halvingPercent = 1
    /// The first interval above none.
    package var firstIntervalSeconds = 1
    /// The longest interval.
    package var intervalSecondsMax = 60

    // The width of a chain.
    /// For how long the URLs of a chain, and what clients advertise at them, are counted together.
    package var widthSeconds = 3600
    /// A chain of more URLs is wide.
    package var urlsMax = 32
    /// How many dictionaries must have been advertised before a wide chain is judged by those that were found.
    package var widthAdvertisedMin = 64
    /// A wide chain of which a smaller share is found stops offering.
    package var foundPercentMin = 20
    /// In a wide chain one delta in so many is compared with the best plain coding.
    package var sampleEvery = 64
    /// How many deltas must have been compared before a wide chain is judged by what they save.
    package var samplesMin = 8
    /// A wide chain whose deltas save a smaller share stops offering.
    package var savedPercentMin = 10
    /// For how long a chain stops offering; twice as long each time it has to stop again at once.
    package var restSeconds = 900
    /// The longest that a chain stops offering.
    package var restSecondsMax = 8 * 3600

    // Tombstones.
    /// How many digests of evicted versions all chains remember together: about 6 MiB.
    package var tombstonesMax = 65_536
    /// How many digests of evicted versions a chain remembers in one of its two halves.
    package var tombstonesPerHalf = 3072
    /// When a half is closed that is not full: a digest is remembered for as long to twice as long.
    package var tombstoneSeconds = 12 * 3600

    /// The defaults.
    package init() {}
}
