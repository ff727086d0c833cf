internal import Dictionaries
internal import HTTP
internal import Testing

@testable internal import dictum

/// The responses of one URL tell how often its body changes.
@Suite struct ResourceHistoryTests {
    private typealias Response = ResourceHistory.Response

    private func response(_ text: String, at seconds: Double, isRepeat: Bool = false) -> Response {
        Response(seconds: seconds, body: Body(Array(text.utf8)), headers: nil, isRepeat: isRepeat)
    }

    private func history(_ responses: [Response]) throws -> ResourceHistory {
        var history = ResourceHistory(url: try FetchURL("http://a.test/"), name: "a")
        for response in responses { history.add(response) }
        return history
    }

    @Test func `the first response and repeats do not count in the unchanged share`() throws {
        let history = try history([
            response("a", at: 0, isRepeat: true), response("a", at: 1, isRepeat: true), response("b", at: 60),
            response("b", at: 120), response("c", at: 180),
        ])
        #expect(history.repeats.count == 1 && history.repeats.unchanged == 1 && history.unchanged == 2)
        #expect(history.unchangedShare == 1.0 / 3)
        #expect(history.periodSeconds == 90)
    }

    @Test(
        arguments: [
            ([0, 10, 11, 21], true), ([0, 1, 2], false), ([0, 2, 4, 6], false), ([0, 1, 2, 3], true),
        ] as [([Double], Bool)])
    func `four bodies, two of them within two seconds, are another one each time`(
        times: [Double], expected: Bool
    ) throws {
        let history = try history(times.map { response("\($0)", at: $0) })
        #expect(history.changesEachTime == expected)
        #expect((history.periodSeconds == nil) == expected)
    }

    @Test func `the last head and the credentials of all responses count`() throws {
        var responses = ["a", "b", "c"].map { response($0, at: 0) }
        responses[0] = Response(
            seconds: 0, body: Body([1]), headers: Headers(), receivedAt: 5, credentials: .cookie)
        responses[1] = Response(
            seconds: 0, body: Body([2]), headers: Headers(), receivedAt: 9, credentials: .authorization)
        let history = try history(responses)
        #expect(history.lastHead?.receivedAt == 9)
        #expect(history.credentials == [.cookie, .authorization])
    }

    @Test func `a thousand URLs and as many versions of each have a place, and no more`() throws {
        let url = try FetchURL("http://a.test/")
        var collection = HistoryCollection()
        for number in 0...1_000 {
            collection.add(response("\(number)", at: 0), to: "\(number)") {
                ResourceHistory(url: url, name: "\(number)")
            }
        }
        #expect(collection.histories.count == 1_000)
        #expect(collection.warnings.last == "left out everything after the first 1000 URLs")
        for number in 1...1_000 {
            collection.add(response("\(number) of 0", at: Double(number)), to: "0") {
                ResourceHistory(url: url, name: "0")
            }
        }
        #expect(collection.histories.first?.versions.count == 1_000)
        #expect(collection.warnings.last == "0: left out everything after the first 1000 versions")
    }

    @Test func `a body of up to 64 MiB has a place, and a larger one is said`() throws {
        let url = try FetchURL("http://a.test/")
        var collection = HistoryCollection()
        for count in [64 << 20, 64 << 20 + 1] {
            let body = Body([UInt8](repeating: 1, count: count))
            collection.add(Response(seconds: 0, body: body, headers: nil), to: "a") {
                ResourceHistory(url: url, name: "a")
            }
        }
        #expect(collection.histories.first?.responses.count == 1 && !collection.isFull)
        #expect(collection.warnings.last == "a: left out a body over 64.0 MiB")
    }

    @Test func `a warning is said once, and twenty are enough`() {
        var collection = HistoryCollection()
        for number in 0..<30 { collection.warn("\(number / 2)") }
        #expect(collection.warnings.count == 15)
        for number in 0..<30 { collection.warn("\(number)") }
        #expect(collection.warnings.count == 20)
    }
}
