internal import Foundation
internal import Testing

/// Asks again and again until something is so; fails if it never is.
func waitUntil(_ what: String, _ isSo: () throws -> Bool) throws {
    let deadline = Date(timeIntervalSinceNow: 300)
    while try !isSo() {
        try #require(deadline.timeIntervalSinceNow > 0, "not in time: \(what)")
        Thread.sleep(forTimeInterval: 0.02)
    }
}
