extension Configuration {
    /// Looks for an address that is given twice, once all settings are read; port 0 is another each time.
    func checkAddresses(_ reader: inout SettingsReader) {
        var takers: [ListenAddress: String] = [:]
        var names = listeners.enumerated().map { ("listeners[\($0)]", ListenAddress?.some($1.address)) }
        names.append(("admin", admin?.address))
        for (name, address) in names {
            guard let address else { continue }
            if case .tcp(_, port: 0) = address { continue }
            let node = reader.node(of: name + ".address")
            // In place of one that cannot be read there is the default, which nobody has written.
            if let node, reader.hasProblem(inLine: node.position.line) { continue }
            guard let taker = takers.updateValue(name, forKey: address) else { continue }
            let text = node?.kind ?? "\"\(String(describing: address).shortened)\" unless another is given"
            reader.report(
                "\(name).address is \(text), which \(taker) has: expected an address of its own",
                at: (node ?? reader.node(of: taker + ".address"))?.position ?? .init(line: 1, column: 1))
        }
    }
}
