extension SettingType where Value == ListenAddress {
    /// Where a listener accepts connections.
    static let listenAddress = scalar(
        "an address such as 127.0.0.1:8080, [::1]:8080 or unix:/run/dictum.sock",
        write: { String(describing: $0).inYAML }, read: { ListenAddress($0) })
}

extension SettingType where Value == ListenAddress? {
    /// Where a listener accepts connections, if there is one.
    static let listenAddressOrOff = scalar(
        "an address such as 127.0.0.1:9901 or unix:/run/dictum.sock, or off",
        write: { $0.map { String(describing: $0).inYAML } ?? "off" },
        read: { $0.saysOff ? .some(nil) : ListenAddress($0).map { .some($0) } })
}

extension SettingType where Value == TrustedNetwork {
    /// Peers whose word about the client counts.
    static let network = scalar(
        "loopback, unix, an address, or a block such as 10.0.0.0/8", write: { $0.text },
        read: { TrustedNetwork($0) })
}

extension TrustedNetwork {
    /// As the reference shows it, which has no blocks.
    fileprivate var text: String {
        switch self {
        case .loopback: "loopback"
        case .unix: "unix"
        case .block(_, let prefix): "a block of prefix \(prefix)"
        }
    }
}

private let expectedURL = "a URL such as http://127.0.0.1:9000"
private let expectedURLs = "a list with the URL of the upstream, such as [\"http://127.0.0.1:9000\"]"

extension SettingType where Value == [UpstreamURL] {
    /// The upstreams, of which this version takes one.
    static let upstreamURLs = SettingType(
        expectation: expectedURLs,
        read: { node, reader in
            guard case .list(let items) = node.content, !items.isEmpty else {
                reader.reportUnexpected(node, expected: expectedURLs)
                return nil
            }
            let urls = items.enumerated().map { index, item in
                reader.descend("[\(index)]") { SettingType<UpstreamURL>.upstreamURL.read(item, &$0) }
            }
            if items.count > 1 {
                reader.reportNotYet("more than one upstream", expected: "one URL", at: items[1].position)
            }
            return urls.compactMap(\.self)
        },
        write: { "[" + $0.map(\.description.inYAML).listed + "]" })
}

extension SettingType where Value == UpstreamURL {
    /// One upstream.
    static let upstreamURL = SettingType(
        expectation: expectedURL,
        read: { node, reader in
            guard let text = reader.text(node, expected: expectedURL) else { return nil }
            do throws(UpstreamURL.Mistake) {
                return try UpstreamURL(text)
            } catch .hasMore {
                let reason = "more than a host and a port"
                reader.reportUnexpected(node, expected: expectedURL, because: reason)
            } catch {
                reader.reportUnexpected(node, expected: expectedURL)
            }
            return nil
        },
        write: { $0.description.inYAML })
}
