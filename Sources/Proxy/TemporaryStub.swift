internal import Dictionaries
extension URLPattern { static let everything: URLPattern = { do { return try URLPattern("/*") } catch { preconditionFailure() } }() }
