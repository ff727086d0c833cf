/// A budget of memory: buffers that together never take more than its share.
///
/// Outside of them are, each with a bound of its own: the buffers of a connection, the output of each HTTP/2 stream
/// (`ResponseQueue`), the window of uploads (`HTTP2Settings`), commands to Redis that requests wait for (`RedisGate`),
/// the lines of the log (`LogSink`), and tables with a bounded number of entries.
package enum Budget: String, CaseIterable, Sendable {
    case coding, store, deltas, prepared, sharing, contexts, observe

    /// The share by default; the shares add up to 1.
    var share: Double {
        switch self {
        case .coding: 0.4
        case .store: 0.2
        case .deltas, .prepared: 0.15
        case .sharing: 0.04
        case .contexts, .observe: 0.03
        }
    }

    var prose: String {
        switch self {
        case .coding:
            """
            Live encoders and decoders, held bodies, trainings, what waits for a closed window, and the bodies of requests \
            that may name an operation (`key`). Beyond it, responses are sent uncompressed, or as the upstream coded them, \
            coded uploads get 503, and other bodies name no operation.
            """
        case .store:
            """
            Hot bodies of the store, copies being admitted, and the index, which takes 0.6 KB per version and 0.7 KB per \
            chain, plus their names. A quarter is reserved for bodies.
            """
        case .deltas: "Deltas that are kept to be sent again; 0%: each delta is made anew."
        case .prepared: "Dictionaries that are indexed on their second use; 0%: each use indexes anew."
        case .sharing: "Bodies on their way to store.shared. Beyond it, the oldest stay on this node."
        case .contexts: "Encoders and decoders that wait for the next body; 0%: each body makes its own."
        case .observe: "Copies of bodies that wait to be measured. Responses without room are not observed."
        }
    }
}

package struct Budgets: Sendable, Equatable {
    /// The limit of all together, in bytes.
    package let total: Int
    private let settings: Configuration.Memory

    /// The smallest total that Dictum takes by itself.
    private static let least = 64 << 20

    /// Makes the limits that the settings say.
    ///
    /// - Parameter usable: The memory that the process may use, in bytes; without a total, the budgets get a quarter.
    package init(_ settings: Configuration.Memory, usable: Int = ProcessMemory.usableBytes()) {
        self.settings = settings
        total = settings.total ?? max(Self.least, usable / 4)
    }

    /// The limit of a budget, in bytes.
    package subscript(_ budget: Budget) -> Int { Int(Double(total) * settings[budget]) }
}
