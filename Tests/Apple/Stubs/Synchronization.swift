// swift-format-ignore-file
// The part of Synchronization that the shared modules use, with its availability.

@available(macOS 15, iOS 18, *)
public struct AtomicUpdateOrdering: Sendable {
    public static let relaxed = AtomicUpdateOrdering()
}

@available(macOS 15, iOS 18, *)
public struct Atomic<Value: Sendable>: ~Copyable, Sendable {
    private let value: Value
    public init(_ value: Value) { self.value = value }
    public borrowing func load(ordering: AtomicUpdateOrdering) -> Value { value }
    @discardableResult
    public borrowing func wrappingAdd(_ amount: Value, ordering: AtomicUpdateOrdering) -> Value { value }
    @discardableResult
    public borrowing func wrappingSubtract(_ amount: Value, ordering: AtomicUpdateOrdering) -> Value { value }
}
