internal import Foundation
internal import HTTP

/// A browser under the control of the DevTools protocol, over two pipes (`--remote-debugging-pipe`).
///
/// Messages are JSON, each followed by a NUL. Blocking, for one thread. The browser ends with this object.
final class DevToolsPipe {
    private static let messageBytesMax = 64 << 20
    private static let endMilliseconds = 5_000

    private let pid: pid_t
    private let commands: Int32
    private let replies: Int32
    private var unread: [UInt8] = []
    private var lastID = 0
    /// Events that have not been taken yet.
    private var events: [Event] = []

    /// A message that the browser sends unasked.
    struct Event {
        let method: String
        let parameters: [String: Any]
    }

    init(_ program: String, arguments: [String]) throws(CommandError) {
        // The shell becomes the browser, under the same process id; the browser's own output is discarded.
        let words = ["sh", "-c", #"exec "$0" "$@" >/dev/null 2>&1"#, program] + arguments
        do throws(SystemError) {
            let toBrowser = try ChildProcess.pipe()
            var isStarted = false
            defer {
                close(toBrowser.readEnd)
                // Nothing else closes it: an object that is not made has no end.
                if !isStarted { close(toBrowser.writeEnd) }
            }
            commands = toBrowser.writeEnd
            (pid, replies) = try ChildProcess.startPiped(
                "/bin/sh", arguments: words, environment: ProcessInfo.processInfo.environment,
                passing: [toBrowser.readEnd])
            isStarted = true
        } catch {
            throw CommandError("\(program): \(error.text)")
        }
    }

    deinit {
        _ = try? send("Browser.close", [:], session: nil)
        close(commands)
        close(replies)
        _ = ChildProcess.end(pid, within: Self.endMilliseconds)
    }

    // MARK: Calls

    /// Calls a method of the browser and returns its result.
    func call(
        _ method: String, _ parameters: [String: Any] = [:], session: String? = nil,
        until deadline: FetchDeadline
    ) throws(CommandError) -> [String: Any] {
        let id = try send(method, parameters, session: session)
        while true {
            guard let message = try receive(until: deadline) else {
                throw CommandError("\(method): \(deadline.error)")
            }
            guard message["id"] as? Int == id else {
                keep(message)
                continue
            }
            if let error = message["error"] as? [String: Any] {
                throw CommandError("\(method): \(error["message"] as? String ?? "failed")")
            }
            return message["result"] as? [String: Any] ?? [:]
        }
    }

    /// Returns the next event, or nil if none comes before the deadline.
    func nextEvent(until deadline: FetchDeadline) throws(CommandError) -> Event? {
        while events.isEmpty {
            guard let message = try receive(until: deadline) else { return nil }
            keep(message)
        }
        return events.removeFirst()
    }

    func forgetEvents() { events = [] }

    private func keep(_ message: [String: Any]) {
        guard let method = message["method"] as? String else { return }
        events.append(Event(method: method, parameters: message["params"] as? [String: Any] ?? [:]))
    }

    // MARK: Messages

    private func send(_ method: String, _ parameters: [String: Any], session: String?) throws(CommandError)
        -> Int
    {
        lastID += 1
        var message: [String: Any] = ["id": lastID, "method": method, "params": parameters]
        if let session { message["sessionId"] = session }
        guard let data = try? JSONSerialization.data(withJSONObject: message) else {
            throw CommandError("\(method) cannot be sent")
        }
        do throws(SystemError) {
            try OutputFile.write([UInt8](data) + [0], to: commands)
        } catch {
            throw CommandError("the browser ended; start it by hand to see why")
        }
        return lastID
    }

    /// Returns the next message, or nil if none comes in time.
    private func receive(until deadline: FetchDeadline) throws(CommandError) -> [String: Any]? {
        while true {
            if let end = unread.firstIndex(of: 0) {
                let data = Data(unread[..<end])
                unread.removeFirst(end + 1)
                if let message = try? JSONSerialization.jsonObject(with: data) as? [String: Any] {
                    return message
                }
                continue
            }
            guard unread.count < Self.messageBytesMax else {
                throw CommandError("the browser sent too long a message")
            }
            guard try fill(until: deadline) else { return nil }
        }
    }

    private func fill(until deadline: FetchDeadline) throws(CommandError) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        var next: Int?
        while next == nil {
            let time = deadline.nextMilliseconds
            next = ChildProcess.read(replies, into: &buffer, within: time)
            if time == 0 { break }
        }
        guard let count = next else { return false }
        guard count > 0 else { throw CommandError("the browser ended; start it by hand to see why") }
        unread += buffer[..<count]
        return true
    }
}
