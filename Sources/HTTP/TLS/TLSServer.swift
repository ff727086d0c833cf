internal import Primitives

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
        /// The OCSP response in this file is not sent: there must be a newer one, or it is about another certificate; comes once.
        case overdue(String)
    }

    private struct State: Sendable {
        var context: TLSServerContext
        var stamps: [TLSFileStamp?]
        /// The error of the last look and its time in milliseconds; nil if the context is what the files say.
        var refused: (error: TLSError, at: Int64)?
        /// The files whose OCSP response was reported to be overdue.
        var overdue: Set<String> = []
    }

    /// The time after which refused files are read again, whatever their stamps: a folder's rights may have been at fault, or a
    /// certificate whose time had not come.
    private static let againMilliseconds: Int64 = 60_000

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

    /// Reads the files again if one has changed, or if they were refused a minute ago.
    ///
    /// Blocks, so never call it on a loop, nor from two threads at once.
    package func refresh() -> Refresh { refresh(now: SystemClock.monotonicNanoseconds / 1_000_000) }

    /// The same at a time of the monotonic clock in milliseconds.
    func refresh(now: Int64) -> Refresh {
        let stamps = settings.files.map { TLSFileStamp($0) }
        let former = state.withLock { $0 }
        let hasChanged = stamps != former.stamps
        let isDue = former.refused.map { now - $0.at >= Self.againMilliseconds } ?? false
        guard hasChanged || isDue else {
            let overdue = former.context.overdueStaples.first { !former.overdue.contains($0) }
            guard let overdue else { return .unchanged }
            state.withLock { _ = $0.overdue.insert(overdue) }
            return .overdue(overdue)
        }
        do throws(TLSError) {
            let context = try TLSServerContext(settings, ticketKeys: ticketKeys)
            state.withLock { $0 = State(context: context, stamps: stamps) }
            return .read
        } catch {
            state.withLock { ($0.stamps, $0.refused) = (stamps, (error, now)) }
            // Reported once per change: certificate and key are two files, and one is written before the other.
            return hasChanged || error != former.refused?.error ? .refused(error) : .unchanged
        }
    }
}

package struct TLSServerSettings: Equatable, Sendable {
    package struct Files: Equatable, Sendable {
        /// The PEM file of the certificate, followed by its chain up to the root.
        package var certificate: String
        package var privateKey: String
        /// The DER file of an OCSP response to staple; nil for none.
        package var ocsp: String?

        package init(certificate: String, privateKey: String, ocsp: String? = nil) {
            self.certificate = certificate
            self.privateKey = privateKey
            self.ocsp = ocsp
        }
    }

    package enum ClientAuthentication: Equatable, Sendable {
        case optional, required
    }

    /// The certificates; a client that names no host, or an unknown one, gets the first.
    package var certificates: [Files]
    /// The oldest protocol version that is accepted.
    package var minVersion = TLSVersion.tls12
    /// The versions of HTTP that clients may choose by ALPN.
    package var protocols = HTTPProtocols.all
    /// The PEM file of the authorities for clients' certificates; nil if clients are not asked for one.
    package var clientAuthority: String?
    package var clientAuthentication = ClientAuthentication.required
    /// True if requests are accepted before the handshake is complete (RFC 8446 section 2.3).
    package var earlyData = false

    package init(certificates: [Files]) {
        self.certificates = certificates
    }

    var files: [String] {
        certificates.flatMap { [$0.certificate, $0.privateKey] + ($0.ocsp.map { [$0] } ?? []) }
            + (clientAuthority.map { [$0] } ?? [])
    }
}

package enum TLSVersion: Equatable, Sendable {
    case tls12, tls13
}
