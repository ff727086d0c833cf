internal import HTTP

extension SettingType where Value == ListenAddress {
    /// The address of a listener.
    static let listenAddress = scalar(
        "an address such as 127.0.0.1:8080, [::1]:8080 or unix:/run/dictum.sock",
        write: { String(describing: $0).inYAML }, read: { ListenAddress($0) })
}

extension SettingType where Value == ListenAddress? {
    /// The address of a listener, or `off`.
    static let listenAddressOrOff = scalar(
        "an address such as 127.0.0.1:9901 or unix:/run/dictum.sock, or off",
        write: { $0.map { String(describing: $0).inYAML } ?? "off" },
        read: { $0.saysOff ? .some(nil) : ListenAddress($0).map { .some($0) } })
}

extension SettingType where Value == TrustedNetwork {
    /// Trusted peers.
    static let network = scalar(
        "loopback, unix, an address, or a block such as 10.0.0.0/8", write: { $0.text },
        read: { TrustedNetwork($0) })
}

extension TrustedNetwork {
    /// The form in the reference, whose default has no blocks.
    fileprivate var text: String {
        switch self {
        case .loopback: "loopback"
        case .unix: "unix"
        case .block(_, let prefix): "a block of prefix \(prefix)"
        }
    }
}

extension SettingType where Value == UpstreamURL {
    /// The URL of an upstream.
    static let upstreamURL = SettingType(
        expectation: expectedURL,
        read: { node, reader in
            guard let text = reader.text(node, expected: expectedURL) else { return nil }
            do throws(UpstreamURL.Mistake) {
                return try UpstreamURL(text)
            } catch .hasMore {
                let reason = "it has more than a host and a port"
                reader.reportUnexpected(node, expected: expectedURL, because: reason)
            } catch .badPath {
                let reason = "the path of a Unix socket must be absolute and at most 107 bytes long"
                reader.reportUnexpected(node, expected: expectedURL, because: reason)
            } catch {
                reader.reportUnexpected(node, expected: expectedURL)
            }
            return nil
        },
        write: { $0.description.inYAML })
}

private let expectedURL = "a URL such as http://127.0.0.1:9000 or unix:/run/app.sock"

extension SettingType where Value == String {
    /// A path with an optional query, as in a request line.
    static let requestTarget = word("a path such as /healthz") { text in
        guard text.hasPrefix("/"), text.utf8.count <= 2048 else { return false }
        return (try? RequestTarget(text)) != nil
    }
}

extension SettingType where Value == ExpectedStatus {
    /// Expected statuses.
    static let expectedStatus = scalar(
        "a status such as 200, a class such as 2xx, or a range such as 200-399",
        write: { $0.description }, read: { ExpectedStatus($0) })
}
