/// The handlers of one loop: their tokens, their deadlines, and which of them want attention.
///
/// A pure value. It calls no handler and releases none, so nothing else can use it while it changes.
struct HandlerTable {
    private struct Slot {
        var generation: UInt32 = 0
        var deadline: Int64 = .max
        var checkAt: Int64 = .max
        var isAttended = false
    }

    private var slots: [Slot] = []
    /// Parallel to `slots`, and separate so that a change of a slot's numbers releases nothing.
    private var handlers: [(any Handler)?] = []
    private var freeSlots: [Int32] = []
    private var wheel: DeadlineWheel
    private var attending: [Token] = []
    private var attended: [Token] = []

    init(now: Int64) {
        wheel = DeadlineWheel(now: now)
    }

    // MARK: Handlers

    mutating func add(_ handler: any Handler) -> Token {
        let index: Int
        if let free = freeSlots.popLast() {
            index = Int(free)
            handlers[index] = handler
        } else {
            index = slots.count
            slots.append(Slot())
            handlers.append(handler)
        }
        return Token(index: UInt32(truncatingIfNeeded: index), generation: slots[index].generation)
    }

    /// Removes a handler, and returns it: the caller releases it.
    mutating func remove(_ token: Token) -> (any Handler)? {
        guard let index = index(of: token) else { return nil }
        var removed: (any Handler)?
        swap(&removed, &handlers[index])
        slots[index] = Slot(generation: slots[index].generation &+ 1)
        freeSlots.append(Int32(truncatingIfNeeded: index))
        return removed
    }

    /// Removes all handlers, and returns them: the caller releases them.
    mutating func removeAll() -> [(any Handler)?] {
        var removed: [(any Handler)?] = []
        swap(&removed, &handlers)
        slots = []
        return removed
    }

    /// Returns the handler of `token`, nil once it is removed.
    func handler(_ token: Token) -> (any Handler)? {
        index(of: token).flatMap { handlers[$0] }
    }

    private func index(of token: Token) -> Int? {
        let index = Int(token.index)
        guard index < slots.count, slots[index].generation == token.generation else { return nil }
        return index
    }

    // MARK: Attention

    var wantsAttention: Bool { !attending.isEmpty }

    /// Notes that a handler wants attention; once until it gets it.
    mutating func attend(_ token: Token) {
        guard let index = index(of: token), !slots[index].isAttended else { return }
        slots[index].isAttended = true
        attending.append(token)
    }

    /// Begins a pass over those that want attention, and returns their number.
    ///
    /// A request for attention during the pass waits for the next one, so that no handler starves. Two arrays
    /// alternate, so that neither is reallocated.
    mutating func beginAttention() -> Int {
        swap(&attending, &attended)
        return attended.count
    }

    /// Returns the handler at a position of the pass, nil if it was removed meanwhile.
    mutating func takeAttention(_ position: Int) -> (any Handler)? {
        guard let index = index(of: attended[position]) else { return nil }
        slots[index].isAttended = false
        return handlers[index]
    }

    // One by one: `removeAll(keepingCapacity:)` costs as much as eight of them.
    mutating func endAttention() { while attended.popLast() != nil {} }

    // MARK: Deadlines

    /// Sets the deadline of a handler; nil removes it.
    mutating func setDeadline(_ token: Token, _ deadline: Int64?) {
        guard let index = index(of: token) else { return }
        let deadline = deadline ?? .max
        slots[index].deadline = deadline
        // A later deadline costs nothing: the wheel notices when the token comes up.
        if deadline < slots[index].checkAt {
            slots[index].checkAt = wheel.insert(token, at: deadline)
        }
    }

    /// Returns the milliseconds to the next deadline that may be due; -1 if there is none.
    func millisecondsToNext(now: Int64) -> Int32 { wheel.millisecondsToNext(now: now) }

    mutating func takeDue(upTo moment: Int64) -> [Token] { wheel.take(upTo: moment) }

    /// Removes the deadline of a token that `takeDue` returned, and returns its handler; nil if it is not due.
    mutating func takeExpired(_ token: Token, upTo moment: Int64) -> (any Handler)? {
        // A token with another, later place in the wheel is out of date.
        guard let index = index(of: token), slots[index].checkAt <= moment else { return nil }
        slots[index].checkAt = .max
        if slots[index].deadline <= moment { return handlers[index] }
        if slots[index].deadline != .max {
            slots[index].checkAt = wheel.insert(token, at: slots[index].deadline)
        }
        return nil
    }
}
