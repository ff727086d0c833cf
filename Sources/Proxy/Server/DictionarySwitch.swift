internal import Dictionaries
internal import Synchronization

/// The switch of the admin listener: turns all use, offers and Links off in the running proxy, on every loop at once.
///
/// On after a start and after a reload, whatever it was before. Answers that are decided already go on.
package final class DictionarySwitch: Sendable {
    private let off = Atomic<Bool>(false)

    /// Whether dictionaries are switched off.
    package var isOff: Bool { off.load(ordering: .relaxed) }

    /// Why a request gets no dictionary; nil where the switch is on.
    var reason: Reason? { isOff ? .switchedOff : nil }

    /// Turns the switch; returns whether that changed anything.
    @discardableResult
    package func turn(off isOff: Bool) -> Bool {
        off.exchange(isOff, ordering: .relaxed) != isOff
    }
}
