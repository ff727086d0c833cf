internal import Dispatch
internal import HTTP

/// Finds the addresses of a server and reads the files of its TLS settings, on a queue of its own, because both block.
///
/// Safe from any thread.
final class RedisResolver: Sendable {
    /// A server to connect to; `endpoints` is never empty.
    struct Target: Sendable {
        let endpoints: [Endpoint]
        /// The name that the certificate must have.
        let host: String
        let tls: TLSClientContext?
        let password: String?
    }

    struct Failure: Error {
        let text: String
    }

    private let queue = DispatchQueue(label: "dictum.redis.resolver", qos: .utility)

    /// Calls `onEnd` once, on the queue.
    func resolve(_ settings: RedisSettings, onEnd: @escaping @Sendable (Result<Target, Failure>) -> Void) {
        queue.async { onEnd(Result { () throws(Failure) in try Self.target(of: settings) }) }
    }

    // Files are read again for each connection, so that a new authority or password needs no restart.
    private static func target(of settings: RedisSettings) throws(Failure) -> Target {
        let tls: TLSClientContext?
        do throws(TLSError) {
            tls = settings.usesTLS ? try TLSClientContext(settings.tls) : nil
        } catch {
            throw Failure(text: "TLS: \(error.text)")
        }
        let password = try password(settings)
        switch settings.address {
        case .unix(let path):
            return Target(endpoints: [.unix(path: path)], host: "localhost", tls: tls, password: password)
        case .host(let host, let port):
            let endpoints = Endpoint.resolve(host: host, port: port)
            guard !endpoints.isEmpty else { throw Failure(text: "the name \(host) has no address") }
            return Target(endpoints: endpoints, host: host, tls: tls, password: password)
        }
    }

    private static func password(_ settings: RedisSettings) throws(Failure) -> String? {
        guard let file = settings.passwordFile else { return settings.password }
        do throws(TLSError) {
            return try SecretFile.firstLine(of: file)
        } catch {
            throw Failure(text: "the password file \(error.text)")
        }
    }
}
