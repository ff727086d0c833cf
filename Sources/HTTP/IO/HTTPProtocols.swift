/// The versions of HTTP that a listener accepts, or a client offers.
package struct HTTPProtocols: OptionSet, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let http1 = HTTPProtocols(rawValue: 1)
    package static let http2 = HTTPProtocols(rawValue: 2)
    package static let all: HTTPProtocols = [.http1, .http2]

    /// Their ALPN names (RFC 7301 section 6), the best first; curl asks for HTTP/1.0 by its own name.
    var names: [[UInt8]] { offeredNames + (contains(.http1) ? [Array("http/1.0".utf8)] : []) }

    /// The ALPN names that a client offers, the best first.
    var offeredNames: [[UInt8]] {
        let names = (contains(.http2) ? ["h2"] : []) + (contains(.http1) ? ["http/1.1"] : [])
        return names.map { Array($0.utf8) }
    }
}
