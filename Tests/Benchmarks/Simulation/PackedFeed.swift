import Dictionaries

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

    /// Adds the body of `second` at a URL, and `times` - 1 more like it: a simulated admission stands for so many.
    mutating func admit(bodyOf second: Int, page: Int, _ sizes: SizeModel, times: Int) {
        admissions += times
        bytes += SizeModel.rowBytes * times
        guard var base = bases[page] else { return begin(page, at: second, sizes) }
        let frameBytes = sizes.deltaBytes(from: base.second, to: second)
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
    mutating func admitPersonal(_ sizes: SizeModel, times: Int) {
        admissions += times
        bytes += (SizeModel.rowBytes + sizes.plainBytes) * times
    }

    private mutating func begin(_ page: Int, at second: Int, _ sizes: SizeModel) {
        bytes += sizes.plainBytes
        bases[page] = Base(second: second)
    }
}
