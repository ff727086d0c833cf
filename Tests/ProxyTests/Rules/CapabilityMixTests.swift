internal import Dictionaries
internal import Foundation
internal import Primitives
internal import Storage
internal import TestSupport
internal import Testing

@testable import Proxy

/// Tests many users on one device: each response is coded only over a dictionary that its user was given.
@Suite(.timeLimit(.minutes(40))) struct CapabilityMixTests {
    /// The way in which a request identifies its user.
    private enum Login: CaseIterable {
        case anonymous, analytics, cookie, bearer, both
    }

    /// A client by all that it holds.
    private struct Client {
        let user: String
        let login: Login
        /// The bodies that it was given, with the id of each.
        var held: [(body: [UInt8], id: String)] = []
        var requests = 0

        /// The fields of its next request: tokens rotate on every third, cookies on every fifth.
        var fields: [String] {
            let bearer = "Authorization: Bearer \(user).\(requests / 3)"
            let cookie = "Cookie: _ga=GA1.2.\(requests).4; session=\(user).\(requests / 5)"
            return switch login {
            case .anonymous: ["X-C: 1"]
            case .analytics: ["Cookie: _ga=GA1.2.\(requests).4; _gid=GA1.2.3.\(requests)"]
            case .cookie: [cookie]
            case .bearer: [bearer]
            case .both: [bearer, cookie]
            }
        }
    }

    /// The response fields of each path.
    private static let paths = [
        "/plain": "X-A: 1", "/vary": "Vary: Accept, Cookie, Authorization",
        "/private": "Cache-Control: private, max-age=60",
        "/cookie": "Set-Cookie: csrftoken=1", "/feed": "Cache-Control: max-age=5",
        "/tagged": #"ETag: "same""#, "/page.html": "Vary: Cookie\r\nSet-Cookie: csrftoken=2; Path=/",
    ]

    /// Returns the user that the upstream recognises in a request.
    private static func user(of request: WireMessage) -> String {
        let token = request["Authorization"].map { $0.dropFirst("Bearer ".count) }
        let session = request["Cookie"]?.split(separator: "; ").first { $0.hasPrefix("session=") }?.dropFirst(
            8)
        return String((token ?? session ?? "nobody").prefix { $0 != "." })
    }

    /// Returns a user's body at a path: equal for all users, except for the changing part and the user's secret.
    private static func body(of user: String, at path: String, version: Int) -> [UInt8] {
        let seed = (user + path).utf8.reduce(UInt64(5)) { $0 &* 31 &+ UInt64($1) }
        let secret = String(decoding: Noise.bytes(150, seed: seed).map { 97 + $0 % 26 }, as: UTF8.self)
        return Feed.bytes(version: version, items: 6) + Array("\(user) \(path) \(secret)".utf8)
    }

    /// The digest of the dictionary that a coded body names.
    private static func dictionary(of answer: WireMessage) -> [UInt8]? {
        switch answer.coding {
        case "dcb": Array(answer.body.dropFirst(4).prefix(32))
        case "dcz": Array(answer.body.dropFirst(8).prefix(32))
        default: nil
        }
    }

    @Test(arguments: [1, 2] as [UInt64])
    func `no response is coded over a dictionary that its requester was not given`(seed: UInt64) throws {
        var random = SplitMix(seed: seed)
        let versions = Guarded<[String: Int]>([:])
        let origin = try Origin { request, connection in
            let path = String(request.target.prefix { $0 != "?" })
            let user = Self.user(of: request)
            let version = versions.withLock { $0[user + path] ?? 0 }
            connection.send(
                wire(
                    "HTTP/1.1 200 OK",
                    "Content-Type: \(path == "/page.html" ? "text/html" : "application/json")",
                    Self.paths[path] ?? "X-A: 1",
                    body: Self.body(of: user, at: path, version: version)))
        }
        let proxy = try TestProxy(origin)
        let socket = try proxy.connect()
        var clients = ["ann", "bob"].flatMap { user in
            Login.allCases.map {
                Client(user: $0 == .anonymous || $0 == .analytics ? "nobody" : user, login: $0)
            }
        }
        var deltas = 0
        var honest = 0
        for _ in 0..<5_000 {
            let place = Int.random(in: clients.indices, using: &random)
            let path = try #require(Self.paths.keys.sorted().randomElement(using: &random))
            if Int.random(in: 0..<4, using: &random) == 0 {
                versions.withLock { $0[clients[place].user + path, default: 0] += 1 }
            }
            var fields =
                clients[place].fields + ["Accept-Encoding: \(Bool.random(using: &random) ? "dcz" : "dcb")"]
            clients[place].requests += 1
            // The client's own dictionary with its id, or another user's with its own id, a guessed one or none.
            let own = clients[place].held.last {
                String(decoding: $0.body, as: UTF8.self).contains(" \(path) ")
            }
            var isHonest = false
            switch Int.random(in: 0..<5, using: &random) {
            case 0:
                let other = try #require(clients.randomElement(using: &random)).held.randomElement(
                    using: &random)
                if let other { fields.append(available(other.body)) }
                switch Int.random(in: 0..<3, using: &random) {
                case 0: if let own { fields.append("Dictionary-ID: \"\(own.id)\"") }
                case 1:
                    fields.append(
                        "Dictionary-ID: \"\(Base64.encodeURL(Noise.bytes(16, seed: random.next())))\"")
                default: break
                }
            default:
                if let own {
                    fields += [available(own.body), "Dictionary-ID: \"\(own.id)\""]
                    isHonest = true
                    honest += 1
                }
            }
            socket.send(request(path, fields))
            let answer = try socket.receive()
            let user =
                clients[place].login == .anonymous || clients[place].login == .analytics
                ? "nobody" : clients[place].user
            let expected = Self.body(of: user, at: path, version: versions.withLock { $0[user + path] ?? 0 })
            var dictionary: [UInt8]?
            if let digest = Self.dictionary(of: answer) {
                deltas += 1
                dictionary = clients[place].held.first { Digest(of: $0.body.span).bytes == digest }?.body
                try #require(
                    dictionary != nil, "seed \(seed): \(user) was never given that dictionary: \(answer)")
            } else if isHonest {
                Issue.record("seed \(seed): no delta for \(clients[place].login) at \(path): \(answer)")
            }
            let isExact = try answer.carriesDecoded(expected, over: dictionary)
            try #require(isExact, "seed \(seed): \(answer)")
            // A client that would gain little from another dictionary gets no offer and keeps its own.
            guard let field = answer["Use-As-Dictionary"] else { continue }
            let offer = try #require(UseAsDictionary.parse([field]))
            try #require(!offer.id.isEmpty)
            clients[place].held.removeAll { $0.body == expected }
            clients[place].held.append((expected, offer.id))
            if clients[place].held.count > 60 { clients[place].held.removeFirst() }
        }
        #expect(deltas >= honest && honest > 2_000, "\(deltas) deltas for \(honest) honest requests")
    }

    @Test func `the time of a probe tells nothing of what others hold`() throws {
        let known = Feed.bytes(version: 0, items: 40)
        let unknown = Feed.bytes(version: 9, items: 40)
        let answered = Feed.bytes(version: 1, items: 40)
        let proxy = try TestProxy(
            Origin { request, connection in
                let body = request["Authorization"] == "Bearer ann" ? known : answered
                connection.send(json(body, "Cache-Control: max-age=60"))
            })
        for _ in 0..<3 { _ = try proxy.fetch("/feed", "Authorization: Bearer ann") }
        _ = try proxy.fetch("/feed", "Authorization: Bearer eve")
        let socket = try proxy.connect()
        func time(_ body: [UInt8], _ id: String) throws -> UInt64 {
            let bytes = request(
                "/feed",
                [
                    "Accept-Encoding: dcz, dcb", "Authorization: Bearer eve", available(body),
                    "Dictionary-ID: \"\(id)\"",
                ])
            let start = DispatchTime.now().uptimeNanoseconds
            socket.send(bytes)
            let answer = try socket.receive()
            let end = DispatchTime.now().uptimeNanoseconds
            try #require(answer.coding == "identity")
            return end - start
        }
        var random = SplitMix(seed: 11)
        // Pairs in random order: if the times do not differ, each of the two takes longer half of the time.
        var longer = 0
        let pairs = 3_000
        for _ in 0..<pairs {
            let id = Base64.encodeURL(Noise.bytes(16, seed: random.next()))
            let isKnownFirst = Bool.random(using: &random)
            let first = try time(isKnownFirst ? known : unknown, id)
            let second = try time(isKnownFirst ? unknown : known, id)
            if isKnownFirst ? first > second : second > first { longer += 1 }
        }
        // Six standard deviations of 3,000 tosses.
        let share = Double(longer) / Double(pairs)
        #expect(abs(share - 0.5) < 0.055, "known digests took longer in \(longer) of \(pairs) pairs")
    }
}
