internal import Primitives

/// The TLS of one listener; re-reads its files after a change without disturbing connections.
///
/// Safe from any thread.
package final class TLSServer: Sendable {
    /// The outcome of a look at the files.
    package enum Refresh: Equatable, Sendable {
        /// New connections use the new files.
        case read
        /// A new file is invalid, and the server keeps the former certificate.
        case refused(TLSError)
        /// Clients find a fault in a file that is in use; each fault comes once.
        case complaint(TLSError)
    }

    private struct State: Sendable {
        var context: TLSServerContext
        /// The certificates in use, in the order of the settings.
        var certificates: [TLSServed]
        var stamps: [String: TLSFileStamp]
        /// The errors of the last look and its time in milliseconds; none if the context is what the files say.
        var refused: [TLSError] = []
        var refusedAt: Int64 = 0
        /// The complaints that `refresh` has returned.
        var told: Set<String> = []
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
        let stamps = settings.stamps
        let certificates = try TLSServed.all(of: settings)
        let context = try TLSServerContext(settings, certificates, ticketKeys: ticketKeys)
        // The check of the configuration has warned of what there is to complain of now.
        state = Guarded(
            State(
                context: context, certificates: certificates, stamps: stamps,
                told: Set(context.complaints.map(\.text))))
    }

    /// The context for a connection that begins now.
    package var current: TLSServerContext { state.withLock { $0.context } }

    /// Reads the files again if one has changed, or if they were refused a minute ago; returns what there is to tell.
    ///
    /// Blocks, so never call it on a loop, nor from two threads at once.
    package func refresh() -> [Refresh] { refresh(now: SystemClock.monotonicNanoseconds / 1_000_000) }

    /// The same at a time of the monotonic clock in milliseconds.
    func refresh(now: Int64) -> [Refresh] {
        let former = state.withLock { $0 }
        let stamps = settings.stamps
        let isDue = !former.refused.isEmpty && now - former.refusedAt >= Self.againMilliseconds
        guard stamps != former.stamps || isDue else { return complaints(former) }
        var next = former
        (next.stamps, next.refused, next.refusedAt) = (stamps, [], now)
        if stamps != former.stamps { next.told = [] }
        let isRead = readChanged(of: former, into: &next)
        state.withLock { [next] in $0 = next }
        // Reported once per change: certificate and key are two files, and one is written before the other.
        let news = next.refused.filter { stamps != former.stamps || !former.refused.contains($0) }
        return (isRead ? [.read] : []) + news.map(Refresh.refused)
    }

    /// Reads the certificates whose files have changed or were refused, each by itself: the others must not wait for one that
    /// nobody renews; returns true if the context is another one.
    private func readChanged(of former: State, into next: inout State) -> Bool {
        var isRead = settings.clientAuthority.map { next.stamps[$0] != former.stamps[$0] } ?? false
        for (place, files) in settings.certificates.enumerated()
        where files.all.contains(where: { name in
            next.stamps[name] != former.stamps[name] || former.refused.contains { $0.file == name }
        }) {
            do throws(TLSError) {
                next.certificates[place] = try TLSServed(valid: files)
                isRead = true
            } catch {
                next.refused.append(error)
            }
        }
        do throws(TLSError) {
            next.context = try TLSServerContext(settings, next.certificates, ticketKeys: ticketKeys)
            return isRead || next.refused.count < former.refused.count
        } catch {
            // What has been read waits in `certificates` until the rest is right.
            next.refused.append(error)
            return false
        }
    }

    private func complaints(_ former: State) -> [Refresh] {
        let news = former.context.complaints.filter { !former.told.contains($0.text) }
        if !news.isEmpty { state.withLock { $0.told.formUnion(news.map(\.text)) } }
        return news.map(Refresh.complaint)
    }
}

/// A certificate with its key, and the OCSP response about it, as their files say.
struct TLSServed: Sendable {
    /// The file of the certificate.
    let file: String
    let identity: TLSIdentity
    let staple: TLSStaple?

    init(_ files: TLSServerSettings.Files) throws(TLSError) {
        file = files.certificate
        let identity = try TLSIdentity(certificate: files.certificate, privateKey: files.privateKey)
        self.identity = identity
        guard identity.isServable else {
            throw TLSError(file, "is not accepted by OpenSSL (\(TLSErrorQueue.take()))")
        }
        staple = try files.ocsp.map { file throws(TLSError) in try identity.staple(file) }
    }

    /// Reads files that must be valid now, since others are in use that may be.
    init(valid files: TLSServerSettings.Files) throws(TLSError) {
        try self.init(files)
        if let fault = identity.fault { throw TLSError(file, fault) }
    }

    /// Reads all certificates of a listener; one that is not valid now is better than none.
    static func all(of settings: TLSServerSettings) throws(TLSError) -> [TLSServed] {
        try settings.certificates.map { files throws(TLSError) in try TLSServed(files) }
    }

    /// The faults that clients find now: an invalid certificate, and an OCSP response that cannot be sent.
    var complaints: [TLSError] {
        var complaints: [TLSError] = []
        if let fault = identity.fault {
            complaints.append(TLSError(file, "\(fault), and clients refuse it: renew it"))
        }
        if let staple, !staple.isCurrent() {
            complaints.append(
                TLSError(
                    staple.file,
                    "the OCSP response is overdue or about another certificate, and not sent: renew it"))
        }
        return complaints
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

        var all: [String] { [certificate, privateKey] + (ocsp.map { [$0] } ?? []) }
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

    /// The stamps of all files that are there.
    var stamps: [String: TLSFileStamp] {
        let files = certificates.flatMap(\.all) + (clientAuthority.map { [$0] } ?? [])
        return files.reduce(into: [:]) { stamps, file in stamps[file] = TLSFileStamp(file) }
    }
}

package enum TLSVersion: Equatable, Sendable {
    case tls12, tls13
}
