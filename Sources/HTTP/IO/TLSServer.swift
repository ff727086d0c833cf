/// The TLS of one listener; re-reads its files after a change without disturbing connections.
///
/// Safe from any thread.
package final class TLSServer: Sendable {
    /// The outcome of a look at the files.
    package enum Refresh: Equatable, Sendable {
        case unchanged
        /// New connections use the new files.
        case read
        /// The new files are invalid, and the former ones stay in use.
        case refused(TLSError)
    }

    private struct State: Sendable {
        var context: TLSServerContext
        var stamps: [TLSFileStamp?]
    }

    package let settings: TLSServerSettings
    private let ticketKeys: TLSTicketKeys
    private let state: Guarded<State>

    /// Reads every file; throws the first error.
    package init(_ settings: TLSServerSettings, ticketKeys: TLSTicketKeys) throws(TLSError) {
        self.settings = settings
        self.ticketKeys = ticketKeys
        // Taken before the files are read, so that the next look finds a change in between.
        let stamps = settings.files.map { TLSFileStamp($0) }
        state = Guarded(
            State(context: try TLSServerContext(settings, ticketKeys: ticketKeys), stamps: stamps))
    }

    /// The context for a connection that begins now.
    package var current: TLSServerContext { state.withLock { $0.context } }

    /// Reads the files again if one has changed.
    ///
    /// Blocks, so never call it on a loop, nor from two threads at once.
    package func refresh() -> Refresh {
        let stamps = settings.files.map { TLSFileStamp($0) }
        guard stamps != state.withLock({ $0.stamps }) else { return .unchanged }
        do throws(TLSError) {
            let context = try TLSServerContext(settings, ticketKeys: ticketKeys)
            state.withLock { $0 = State(context: context, stamps: stamps) }
            return .read
        } catch {
            // Reported once per change: certificate and key are two files, and one is written before the other.
            state.withLock { $0.stamps = stamps }
            return .refused(error)
        }
    }
}
