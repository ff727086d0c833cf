internal import TestSupport

/// Asks again and again until something is so; throws if it never is.
func waitUntil(_ what: String, _ isSo: () throws -> Bool) throws {
    try TestSupport.waitUntil(what, isSo)
}
