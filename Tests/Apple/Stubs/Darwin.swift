// swift-format-ignore-file
// The calls of Darwin that the shared modules use, with the types that its headers give them.

public struct pthread_mutex_t { public init() {} }
public struct pthread_mutexattr_t { public init() {} }

public func pthread_mutex_init(
    _ mutex: UnsafeMutablePointer<pthread_mutex_t>, _ attributes: UnsafePointer<pthread_mutexattr_t>?
) -> Int32 { 0 }
@discardableResult
public func pthread_mutex_lock(_ mutex: UnsafeMutablePointer<pthread_mutex_t>) -> Int32 { 0 }
@discardableResult
public func pthread_mutex_unlock(_ mutex: UnsafeMutablePointer<pthread_mutex_t>) -> Int32 { 0 }
@discardableResult
public func pthread_mutex_destroy(_ mutex: UnsafeMutablePointer<pthread_mutex_t>) -> Int32 { 0 }

public func memcmp(_ left: UnsafeRawPointer, _ right: UnsafeRawPointer, _ count: Int) -> Int32 { 0 }

public struct timespec {
    public var tv_sec = 0
    public var tv_nsec = 0
    public init() {}
}
public struct clockid_t: RawRepresentable, Sendable {
    public var rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }
}
public let CLOCK_REALTIME = clockid_t(rawValue: 0)
public let CLOCK_MONOTONIC = clockid_t(rawValue: 6)
public let CLOCK_THREAD_CPUTIME_ID = clockid_t(rawValue: 16)
public func clock_gettime(_ clock: clockid_t, _ time: UnsafeMutablePointer<timespec>) -> Int32 { 0 }

public let O_WRONLY: Int32 = 1
public let O_CREAT: Int32 = 0x200
public let O_EXCL: Int32 = 0x800
public let O_CLOEXEC: Int32 = 0x100_0000
public func open(_ path: UnsafePointer<CChar>, _ flags: Int32, _ mode: UInt16) -> Int32 { 0 }

public func pow(_ base: Double, _ exponent: Double) -> Double { base }

public func rename(_ from: UnsafePointer<CChar>, _ to: UnsafePointer<CChar>) -> Int32 { 0 }

public struct stat {
    public var st_ino: UInt64 = 0
    public var st_size: Int64 = 0
    public var st_mtimespec = timespec()
    public init() {}
}
public func lstat(_ path: UnsafePointer<CChar>, _ status: UnsafeMutablePointer<stat>) -> Int32 { 0 }
