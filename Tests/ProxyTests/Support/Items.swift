internal import Dictionaries
internal import TestSupport

@testable import Proxy

/// Many responses of one kind: most of each is the same in all.
enum Items {
    static func body(_ number: Int) -> [UInt8] {
        let noise = Digest(of: "\(number)".utf8.span).hex
        return Array(
            #"""
            {"id":\#(number),"name":"item \#(noise.prefix(12))","price":{"amount":\#(number * 37 % 1000),"currency":"EUR"},
            "links":{"self":"https://api.test/items/\#(number)","reviews":"https://api.test/items/\#(number)/reviews"},
            "availability":{"warehouse":"central","isOnStock":true,"deliveryDays":3},"token":"\#(noise)"}
            """#.utf8)
    }

    /// The number of a path such as `/items/8`; nil for others.
    static func number(of target: String) -> Int? {
        target.hasPrefix("/items/") ? Int(target.dropFirst("/items/".count).prefix { $0 != "?" }) : nil
    }
}

extension TestProxy {
    /// Returns the first dictionary that a page announces.
    func announcedPath(_ page: String = "/page") throws -> String? {
        try fetch(page, "Sec-Fetch-Dest: document")["Link"].flatMap {
            $0.firstMatch(of: /<([^>]+)>/).map { String($0.output.1) }
        }
    }
}
