internal import HTTP
internal import Storage

/// The response to `/chains`: one page of the chains.
struct ChainReports: Encodable, Sendable {
    /// Seconds since 1970.
    let time: Int
    let order: String
    let offset: Int
    let limit: Int
    /// The number of chains on all pages.
    let total: Int
    let chains: [ChainListing.Entry]
    let `private`: ChainListing.Private

    init(_ listing: ChainListing, _ query: ChainQuery, now: Int) {
        time = now
        order = query.order.rawValue
        (offset, limit, total) = (query.offset, query.limit, listing.total)
        (chains, `private`) = (listing.entries, listing.private)
    }
}

/// The page that a request to `/chains` asks for.
struct ChainQuery: Sendable, Equatable {
    static let limitMax = 200

    var order = ChainListing.Order.wanted
    var offset = 0
    var limit = 50

    init(_ query: String?) throws(AdminRefusal) {
        for parameter in (query ?? "").split(separator: "&") {
            let parts = parameter.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let value = parts.count == 2 ? String(parts[1]) : ""
            switch parts[0] {
            case "order":
                guard let order = ChainListing.Order(rawValue: value) else {
                    throw Self.refusal("order", "wanted, bytes or versions")
                }
                self.order = order
            case "offset": offset = try Self.number("offset", value, 0...100_000_000)
            case "limit": limit = try Self.number("limit", value, 1...Self.limitMax)
            default:
                throw AdminRefusal(.badRequest, "The parameters are order, offset and limit.")
            }
        }
    }

    private static func number(
        _ name: String, _ text: String, _ bounds: ClosedRange<Int>
    ) throws(AdminRefusal) -> Int {
        guard let number = Int(text), bounds ~= number else {
            throw refusal(name, "a number from \(bounds.lowerBound) to \(bounds.upperBound)")
        }
        return number
    }

    private static func refusal(_ name: String, _ expectation: String) -> AdminRefusal {
        AdminRefusal(.badRequest, "Invalid \(name): expected \(expectation).")
    }
}
