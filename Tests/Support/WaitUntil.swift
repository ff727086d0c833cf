internal import Foundation

/// A wait that came to its deadline.
package struct NotInTime: Error, CustomStringConvertible {
    package let description: String

    package init(description: String) { self.description = description }
}

/// Asks again and again until something is so; throws what it waited for if that takes more than five minutes.
package func waitUntil(_ what: String, seconds: Double = 300, _ isSo: () throws -> Bool) throws {
    let deadline = Date(timeIntervalSinceNow: seconds)
    while try !isSo() {
        guard deadline.timeIntervalSinceNow > 0 else { throw NotInTime(description: "not in time: \(what)") }
        Thread.sleep(forTimeInterval: 0.002)
    }
}
