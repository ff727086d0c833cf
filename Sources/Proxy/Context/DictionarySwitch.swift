internal import Dictionaries
internal import Synchronization

/// The admin switch that turns all use, offers and Links off, on every loop at once.
///
/// Every start and reload turns it on. Responses that are already decided continue.
final class DictionarySwitch: Sendable {
    private let off = Atomic<Bool>(false)

    var isOff: Bool { off.load(ordering: .relaxed) }

    /// The reason why requests get no dictionary, or nil.
    var reason: Reason? { isOff ? .switchedOff : nil }

    /// Turns the switch; returns true if that changed it.
    @discardableResult
    func turn(off isOff: Bool) -> Bool {
        off.exchange(isOff, ordering: .relaxed) != isOff
    }
}
