/// Memory at a fixed address that a loop reads into.
///
/// One per loop, so that idle connections hold none.
@safe
package final class ReadBuffer {
    private let memory: UnsafeMutableRawBufferPointer

    init(capacity: Int) {
        unsafe memory = .allocate(byteCount: capacity, alignment: 64)
        // Safe: initialised once, so that every span over it has initialised bytes.
        unsafe memory.initializeMemory(as: UInt8.self, repeating: 0)
    }

    deinit {
        unsafe memory.deallocate()
    }

    var capacity: Int { unsafe memory.count }

    /// Fills the buffer by one read.
    func fill(_ transport: any Transport) -> ReadOutcome {
        unsafe transport.read(into: memory)
    }

    /// Calls `body` with the first `count` bytes.
    func withBytes<Result>(_ count: Int, _ body: (Span<UInt8>) -> Result) -> Result {
        // Safe: the memory lives as long as the object, and the span no longer than the call.
        let bytes = unsafe UnsafeRawBufferPointer(rebasing: memory[..<count]).bindMemory(to: UInt8.self)
        return unsafe body(bytes.span)
    }
}
