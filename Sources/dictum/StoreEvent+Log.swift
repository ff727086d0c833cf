internal import Dictionaries
internal import Logging

extension StoreEvent {
    var level: Logger.Level {
        switch self {
        case .info: .info
        case .warning: .warning
        case .error: .error
        }
    }

    var text: String {
        switch self {
        case .info(let text), .warning(let text), .error(let text): text
        }
    }
}
