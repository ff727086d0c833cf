extension Configuration {
    /// Reports addresses that are given twice; port 0 stands for a different port each time.
    func checkAddresses(_ reader: inout SettingsReader) {
        var takers: [ListenAddress: String] = [:]
        var names = listeners.enumerated().map { ("listeners[\($0)]", ListenAddress?.some($1.address)) }
        names.append(("admin", admin?.address))
        for (name, address) in names {
            guard let address else { continue }
            if case .tcp(_, port: 0) = address { continue }
            let node = reader.node(of: name + ".address")
            // The default stands in for an address that could not be read; that address has been reported
            // already.
            if let node, reader.hasProblem(inLine: node.position.line) { continue }
            guard let taker = takers.updateValue(name, forKey: address) else { continue }
            let text = node?.kind ?? "\"\(String(describing: address).shortened)\" by default"
            reader.report(
                "\(name).address is \(text), which \(taker) uses too: expected a different address",
                at: (node ?? reader.node(of: taker + ".address"))?.position ?? .init(line: 1, column: 1))
        }
    }
}
