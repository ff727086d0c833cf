internal import Dictionaries
internal import Testing

@testable import Proxy

/// What observe mode remembers of clients and of the bodies at a URL.
struct ObservedClientsTests {
    private func digest(_ number: Int) -> Digest { Body(Array("\(number)".utf8)).digest }

    @Test func `the bodies of a URL are numbered, and the latest eight known again`() {
        var clients = ObservedClients()
        for number in 1...20 {
            let (given, isNew) = clients.number(of: digest(number), url: 1)
            #expect(given == number && isNew)
        }
        for number in 13...20 {
            let (known, isNew) = clients.number(of: digest(number), url: 1)
            #expect(known == number && !isNew)
        }
        let (again, isNew) = clients.number(of: digest(12), url: 1)
        #expect(again == 21 && isNew, "a body that was forgotten is a further version")
        #expect(clients.number(of: digest(1), url: 2).number == 1, "each URL has its own numbers")
    }

    @Test func `a client that got nothing to keep holds nothing, for the last reason`() {
        func text(_ visit: ObservedClients.Visit) -> String {
            switch visit {
            case .first: "first"
            case .again(let lack): lack.rawValue
            case .holding: "holding"
            }
        }
        var clients = ObservedClients()
        let key = ObservedClients.Key(client: 1, match: 1)
        let first = text(clients.visit(key, nowMilliseconds: 0))
        clients.keepNothing(.unkept, for: key)
        let second = text(clients.visit(key, nowMilliseconds: 0))
        clients.keepNothing(.nothing, for: key)
        let third = text(clients.visit(key, nowMilliseconds: 0))
        #expect(first == "first" && second == "unkept" && third == "never-offered")
        let other = text(clients.visit(ObservedClients.Key(client: 1, match: 2), nowMilliseconds: 0))
        #expect(other == "first", "of another match the client got nothing")
    }
}
