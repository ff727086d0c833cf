internal import Glibc
internal import Primitives

/// The address of a socket in the system's form.
struct SocketAddress {
    private var storage = sockaddr_storage()
    private var length = socklen_t(MemoryLayout<sockaddr_storage>.size)

    /// Makes room for an address that the system fills in.
    init() {}

    /// Takes an endpoint; throws if the path of a Unix socket is too long.
    init(_ endpoint: Endpoint) throws(SystemError) {
        switch endpoint {
        case .ip(let address, let port) where address.isIPv4:
            var form = sockaddr_in()
            form.sin_family = sa_family_t(AF_INET)
            form.sin_port = port.bigEndian
            // Safe: an IPv4 address has the 4 bytes of the field.
            unsafe withUnsafeMutableBytes(of: &form.sin_addr) { unsafe $0.copyBytes(from: address.bytes) }
            store(form)
        case .ip(let address, let port):
            var form = sockaddr_in6()
            form.sin6_family = sa_family_t(AF_INET6)
            form.sin6_port = port.bigEndian
            // Safe: an IPv6 address has the 16 bytes of the field.
            unsafe withUnsafeMutableBytes(of: &form.sin6_addr) { unsafe $0.copyBytes(from: address.bytes) }
            store(form)
        case .unix(let path):
            var form = sockaddr_un()
            form.sun_family = sa_family_t(AF_UNIX)
            // The path must be followed by a NUL.
            guard path.utf8.count < MemoryLayout.size(ofValue: form.sun_path) else {
                throw SystemError(code: ENAMETOOLONG)
            }
            // Safe: the path is shorter than the field.
            unsafe withUnsafeMutableBytes(of: &form.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
            store(form)
        }
    }

    private mutating func store<Form>(_ form: Form) {
        // Safe: the storage is as large as any of the C structures and aligned for all of them.
        unsafe withUnsafeMutablePointer(to: &storage) { pointer in
            unsafe pointer.withMemoryRebound(to: Form.self, capacity: 1) { unsafe $0.pointee = form }
        }
        length = socklen_t(MemoryLayout<Form>.size)
    }

    private func form<Form>(_: Form.Type) -> Form {
        // Safe: as above; every pattern of bits is a value of the C structures.
        unsafe withUnsafePointer(to: storage) { pointer in
            unsafe pointer.withMemoryRebound(to: Form.self, capacity: 1) { unsafe $0.pointee }
        }
    }

    /// The address family, such as `AF_INET`.
    var family: Int32 { Int32(storage.ss_family) }

    /// The endpoint of an IP address or a Unix socket; nil for other families.
    ///
    /// A Unix socket without a name in the file system has an empty path.
    var endpoint: Endpoint? {
        switch family {
        case AF_INET:
            let form = form(sockaddr_in.self)
            let bytes = unsafe withUnsafeBytes(of: form.sin_addr) { unsafe [UInt8]($0) }
            return IPAddress(bytes: bytes).map { .ip($0, port: UInt16(bigEndian: form.sin_port)) }
        case AF_INET6:
            let form = form(sockaddr_in6.self)
            let bytes = unsafe withUnsafeBytes(of: form.sin6_addr) { unsafe [UInt8]($0) }
            return IPAddress(bytes: bytes).map { .ip($0, port: UInt16(bigEndian: form.sin6_port)) }
        case AF_UNIX:
            let form = form(sockaddr_un.self)
            let path = unsafe withUnsafeBytes(of: form.sun_path) { unsafe [UInt8]($0.prefix { $0 != 0 }) }
            return .unix(path: String(path.span))
        default: return nil
        }
    }

    /// Passes the address to a call such as `connect`.
    func pass(to call: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        // Safe: every address begins with a `sockaddr`, and the storage outlives the call.
        unsafe withUnsafePointer(to: storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe call($0, length) }
        }
    }

    /// Lets a call such as `getsockname` fill the address in.
    mutating func fill(
        by call: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
    ) -> Int32 {
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        defer { self.length = length }
        // Safe: as above; the call writes at most `length` bytes.
        return unsafe withUnsafeMutablePointer(to: &storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe call($0, &length) }
        }
    }
}

extension Endpoint {
    /// Returns the addresses of `host`, best first, at most 256; empty if it has none.
    ///
    /// Blocks, so never call it on a loop.
    package static func resolve(host: String, port: UInt16) -> [Endpoint] {
        if let address = IPAddress(host) { return [.ip(address, port: port)] }
        // A machine with loopback alone has no configured address family, and still knows localhost.
        return resolve(host, port, flags: AI_ADDRCONFIG) ?? resolve(host, port, flags: 0) ?? []
    }

    private static func resolve(_ host: String, _ port: UInt16, flags: Int32) -> [Endpoint]? {
        var hints = unsafe addrinfo()
        unsafe hints.ai_flags = flags
        unsafe hints.ai_family = AF_UNSPEC
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        // Safe: texts and hints outlive the call, and the list is freed below.
        guard unsafe getaddrinfo(host, nil, &hints, &list) == 0 else { return nil }
        defer { unsafe freeaddrinfo(list) }
        var endpoints: [Endpoint] = []
        var next = unsafe list
        while let entry = unsafe next, endpoints.count < 256 {
            var address = SocketAddress()
            // Safe: the list's addresses are as long as it says, and no longer than the storage.
            let code = unsafe address.fill { target, length in
                guard let source = unsafe entry.pointee.ai_addr,
                    unsafe entry.pointee.ai_addrlen <= length.pointee
                else { return -1 }
                unsafe UnsafeMutableRawPointer(target).copyMemory(
                    from: source, byteCount: Int(entry.pointee.ai_addrlen))
                return 0
            }
            // A link-local address means nothing without its interface, for which an endpoint has no place.
            if code == 0, case .ip(let found, _)? = address.endpoint, !found.isLinkLocal6 {
                endpoints.append(.ip(found, port: port))
            }
            unsafe next = unsafe entry.pointee.ai_next
        }
        return endpoints
    }
}
