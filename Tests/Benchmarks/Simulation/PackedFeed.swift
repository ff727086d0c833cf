import Storage

/// The bytes that the bodies of one feed take on disk, by the size model and the packer's choice of bases.
struct PackedFeed: Sendable {
    private struct Base: Sendable {
        let second: Int
        var choice = BaseChoice()
    }

    /// The bytes of all frames and rows so far.
    private(set) var bytes = 0
    private var admissions = 0
    /// The bases by their URL.
    private var bases: [Int: Base] = [:]

    var meanBytes: Int { admissions == 0 ? 0 : bytes / admissions }

    /// Adds the body of `second` at a URL.
    ///
    /// It counts `times`, since a simulated admission stands for several real ones.
    mutating func admit(bodyOf second: Int, page: Int, _ sizes: some ResponseSizes, times: Int) {
        admissions += times
        bytes += type(of: sizes).rowBytes * times
        guard var base = bases[page] else { return begin(page, at: second, sizes) }
        let frameBytes = sizes.deltaBytes(from: base.second, to: second, .first)
        base.choice.record(frameBytes: frameBytes, times: times)
        bases[page] = base
        bytes += frameBytes * (times - 1)
        if 2 * frameBytes >= sizes.plainBytes || base.choice.isNewBaseDue(baseBytes: sizes.plainBytes) {
            begin(page, at: second, sizes)
        } else {
            bytes += frameBytes
        }
    }

    /// Adds personal bodies, which have no base and are sealed.
    mutating func admitPersonal(_ sizes: some ResponseSizes, times: Int) {
        admissions += times
        bytes += (type(of: sizes).rowBytes + sizes.plainBytes) * times
    }

    private mutating func begin(_ page: Int, at second: Int, _ sizes: some ResponseSizes) {
        bytes += sizes.plainBytes
        bases[page] = Base(second: second)
    }
}

/// A day of the table, with what only the table shows.
struct TabledDay {
    var outcome: SimulatedDay.Outcome
    /// The bytes of the admitted bodies, packed, with their rows.
    var packed: PackedFeed
    /// Dictionaries that browsers downloaded by a Link, and versions that Links named.
    var downloads = 0
    var names = 0
}
