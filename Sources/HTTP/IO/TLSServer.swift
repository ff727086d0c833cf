/// The TLS of one listener: reads its files again when they have changed, without a connection noticing.
///
/// Safe from any thread.
package final class TLSServer: Sendable {
    /// What came of looking at the files.
    package enum Refresh: Equatable, Sendable {
        case unchanged
        /// New connections get what the files have now.
        case read
        /// What the files have now is of no use, and the former stays.
        case refused(TLSError)
    }

    private struct State: Sendable {
        var context: TLSServerContext
        var stamps: [TLSFileStamp?]
    }

    package let settings: TLSServerSettings
    private let ticketKeys: TLSTicketKeys
    private let state: Guarded<State>

    /// Reads every file; throws what is wrong with the first that is.
    package init(_ settings: TLSServerSettings, ticketKeys: TLSTicketKeys) throws(TLSError) {
        self.settings = settings
        self.ticketKeys = ticketKeys
        // Before the files are read: a change in between is found by the next look.
        let stamps = settings.files.map { TLSFileStamp($0) }
        state = Guarded(
            State(context: try TLSServerContext(settings, ticketKeys: ticketKeys), stamps: stamps))
    }

    /// What a connection that begins now is served with.
    package var current: TLSServerContext { state.withLock { $0.context } }

    /// Reads the files again if one has changed; blocks, so never on a loop, and not from two threads at once.
    package func refresh() -> Refresh {
        let stamps = settings.files.map { TLSFileStamp($0) }
        guard stamps != state.withLock({ $0.stamps }) else { return .unchanged }
        do throws(TLSError) {
            let context = try TLSServerContext(settings, ticketKeys: ticketKeys)
            state.withLock { $0 = State(context: context, stamps: stamps) }
            return .read
        } catch {
            // Once for each change: certificate and key are two files, and one is written before the other.
            state.withLock { $0.stamps = stamps }
            return .refused(error)
        }
    }
}
