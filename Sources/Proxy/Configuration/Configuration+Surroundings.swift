internal import Foundation
internal import HTTP
internal import Redis
internal import Storage

extension Configuration {
    /// Checks what a start needs besides the file: the key file, the upstreams' names and the folders of the
    /// store and of the access log.
    ///
    /// Names and folders only give warnings: the service may run elsewhere, later, or as another user.
    mutating func checkSurroundings(_ reader: inout SettingsReader) {
        checkKeyFile(&reader)
        checkUpstreams(&reader)
        checkListeners(reader)
        checkMemory(reader)
        checkStorePath(&reader)
        checkLogFolder(reader)
        checkSharedStore(reader)
    }

    /// Warns of a shared store that cannot be reached, or whose settings are not as they should be.
    private mutating func checkSharedStore(_ reader: SettingsReader) {
        // Nobody is told warnings beside errors, of which the URL may be one.
        guard reader.problems.isEmpty, let redis = store.shared else { return }
        for finding in RedisInspection(redis, writes: false).findings {
            warn("store.shared: \(finding.text)", at: reader.position(of: "store.shared"))
        }
    }

    /// Warns of listeners that cannot be opened here.
    private mutating func checkListeners(_ reader: SettingsReader) {
        var addresses = listeners.enumerated().map { ("listeners[\($0)].address", $1.address) }
        if let address = admin?.address { addresses.append(("admin.address", address)) }
        for (key, address) in addresses {
            let position = reader.position(of: key)
            switch address {
            case .tcp(let host, _) where address.endpoints.isEmpty:
                warn("\(key): \(host) does not resolve here: serve would not start", at: position)
            case .tcp: break
            case .unix(let path):
                if let status = FileKind(of: path), status != .socket {
                    warn("\(key): \(path) is not a socket: serve would not start", at: position)
                } else if FileKind(of: URL(filePath: path).deletingLastPathComponent().path) == nil {
                    warn(
                        "\(key): the folder of \(path) does not exist: create it, unless systemd does",
                        at: position)
                }
            }
        }
    }

    /// Warns of budgets that the process can never have.
    private mutating func checkMemory(_ reader: SettingsReader) {
        let usable = ProcessMemory.usableBytes()
        guard let total = memory.total, total > usable, usable > 0,
            let node = reader.node(of: "memory.total") ?? reader.node(of: "memory")
        else { return }
        warn(
            """
            memory is \(Quantity.size.text(of: total)), and this process may use \(usable >> 20)MiB: it would be killed before \
            the budgets are full
            """, at: node.position)
    }

    private mutating func checkUpstreams(_ reader: inout SettingsReader) {
        for upstream in allUpstreams { checkAddresses(of: upstream, &reader) }
    }

    private mutating func checkAddresses(of upstream: Upstream, _ reader: inout SettingsReader) {
        let key = "\(upstream.key).urls"
        let items = reader.node(of: key)?.items ?? []
        let own = listeners.flatMap { $0.address.endpoints }
        for (place, url) in upstream.urls.enumerated() {
            let position = place < items.count ? items[place].position : reader.position(of: key)
            let found = url.place.endpoints
            if found.isEmpty {
                warn(
                    "\(key)[\(place)]: the host name of \(url) does not resolve here: serve would not start",
                    at: position)
            }
            for endpoint in found where own.contains(where: { endpoint.leads(to: $0) }) {
                reader.report(
                    "\(key)[\(place)]: \(url) is a listener of this proxy: expected the address of the upstream",
                    at: position)
                break
            }
        }
    }

    /// Reports a path at which something else than a store is, and warns if its folder is missing.
    ///
    /// `serve` does not start in the first case. In the second it logs an error and keeps dictionaries in memory.
    private mutating func checkStorePath(_ reader: inout SettingsReader) {
        let position = reader.position(of: "store.path", "store")
        do throws(StoreError) {
            try StoreFile.check(path: store.path)
        } catch {
            return reader.report("store.path: \(error)", at: position)
        }
        guard store.path != ":memory:", let problem = Self.problem(ofFolderOf: store.path) else { return }
        warn("store.path: \(problem), or dictionaries are kept in memory only", at: position)
    }

    /// Warns if the access log cannot be written, or not be made: `serve` would not start.
    private mutating func checkLogFolder(_ reader: SettingsReader) {
        guard let file = log.access.file else { return }
        let problem =
            switch FileKind(of: file) {
            case nil: Self.problem(ofFolderOf: file)
            case .folder?: "\(file) is a folder: name a file"
            case .some: Self.problem(ofWriting: file)
            }
        guard let problem else { return }
        warn(
            "log.access.file: \(problem), or serve does not start",
            at: reader.position(of: "log.access.file"))
    }

    /// Returns why no file can be made at a path, and what helps; nil if one can.
    private static func problem(ofFolderOf path: String) -> String? {
        let folder = URL(filePath: path).deletingLastPathComponent().path
        guard let kind = FileKind(of: folder) else { return "\(folder) does not exist: create it" }
        if kind != .folder { return "\(folder) is not a folder: choose another path" }
        return problem(ofWriting: folder)
    }

    private static func problem(ofWriting path: String) -> String? {
        if FileManager.default.isWritableFile(atPath: path) { return nil }
        return "this user cannot write to \(path): run check as the service's user, or change its owner"
    }
}

/// The kinds of files that the checks tell apart.
private enum FileKind {
    case folder, socket, other

    /// Nil if there is nothing.
    init?(of path: String) {
        let target = URL(filePath: path).resolvingSymlinksInPath().path
        let type = try? FileManager.default.attributesOfItem(atPath: target)[.type] as? FileAttributeType
        switch type {
        case nil: return nil
        case .typeDirectory?: self = .folder
        case .typeSocket?: self = .socket
        case .some: self = .other
        }
    }
}

extension Configuration {
    /// Checks the key file of the store, if one is needed; a missing one is created at the start.
    mutating func checkKeyFile(_ reader: inout SettingsReader) {
        guard needsKeys, let file = store.keyFileInUse else { return }
        let position = reader.position(of: "store.key_file", "store.path", "store")
        do throws(StoreError) {
            try StoreKeyFile.check(at: file) { warn($0, at: position) }
        } catch {
            return reader.report("store.key_file: \(error)", at: position)
        }
        // By default it lies beside the store, whose folder is checked already.
        guard store.keyFile != nil, StoreKeyFile.isMissing(file), let problem = Self.problem(ofFolderOf: file)
        else { return }
        warn(
            "store.key_file: \(problem), or "
                + (hasPrivateRoutes
                    ? "serve does not start" : "personal dictionaries last until the next start"),
            at: position)
    }
}

extension Endpoint {
    /// Returns true if connections to the address arrive at a listener of this machine.
    ///
    /// `Via` detects loops through other interfaces, whose addresses change while the proxy runs.
    func leads(to listener: Endpoint) -> Bool {
        guard self != listener else { return true }
        guard case .ip(let ip, let port) = self, case .ip(let own, port: port) = listener, own.isWildcard
        else { return false }
        // The IPv6 wildcard also accepts IPv4.
        return (ip.isLoopback || ip.isWildcard) && (ip.isIPv4 || !own.isIPv4)
    }
}
