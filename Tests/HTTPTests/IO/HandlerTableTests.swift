import Testing

@testable import HTTP

/// The places of a loop's handlers: each is used again, by nobody who has left it.
struct HandlerTableTests {
    private final class Idle: Handler {}

    @Test func `the place of a removed handler goes to the next one, under another name`() {
        var table = HandlerTable(now: 0)
        let (first, second) = (Idle(), Idle())
        let old = table.add(first)
        let removed = table.remove(old)
        #expect(removed === first)
        #expect(table.remove(old) == nil)
        let new = table.add(second)
        #expect(new.index == old.index)
        #expect(new != old)
        #expect(table.handler(old) == nil)
        let found = table.handler(new)
        #expect(found === second)
    }

    @Test func `who takes a place inherits neither the deadline nor the attention of who had it`() {
        var table = HandlerTable(now: 0)
        let old = table.add(Idle())
        table.setDeadline(old, 100)
        table.attend(old)
        _ = table.remove(old)
        let heir = Idle()
        let new = table.add(heir)
        #expect(table.beginAttention() == 1)
        #expect(table.takeAttention(0) == nil)
        table.endAttention()
        table.attend(new)
        #expect(table.beginAttention() == 1)
        let attended = table.takeAttention(0)
        #expect(attended === heir)
        table.endAttention()
        #expect(table.takeExpired(new, upTo: 1000) == nil)
        table.setDeadline(new, 2000)
        #expect(table.takeExpired(new, upTo: 1999) == nil)
        let expired = table.takeExpired(new, upTo: 2004)
        #expect(expired === heir)
        #expect(table.takeExpired(new, upTo: 5000) == nil, "a deadline passes once")
    }

    @Test func `a handler that asks for attention twice gets it once`() {
        var table = HandlerTable(now: 0)
        let token = table.add(Idle())
        table.attend(token)
        table.attend(token)
        #expect(table.beginAttention() == 1)
    }
}
