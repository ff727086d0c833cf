internal import Dictionaries
internal import HTTP
internal import Primitives
internal import Testing

@testable import Proxy

/// The exchange counts and keeps a request's body as it comes.
@Suite struct RequestUploadTests {
    @Test func `what was kept is taken out once, in its order and with its trailers`() {
        var upload = RequestUpload(.chunked, coding: .passes)
        let (first, second): ([UInt8], [UInt8]) = ([1, 2], [3])
        upload.keep(first.span)
        upload.keep(second.span)
        let early = upload.takeKept()
        #expect(early.bytes == first + second && early.trailers == nil, "the body is not whole")
        upload.keep(second.span)
        var trailers = Headers()
        trailers.append(.etag, "x")
        upload.keepEnd(trailers)
        let whole = upload.takeKept()
        #expect(whole.bytes == second && whole.trailers?.isEmpty == false)
        let again = upload.takeKept()
        #expect(again.bytes.isEmpty && again.trailers == nil)
    }

    @Test func `all bytes of a body count, and it is whole at its end`() {
        var upload = RequestUpload(.length(3), coding: .dcz)
        let (first, second): ([UInt8], [UInt8]) = ([1, 2], [3])
        upload.received(first.span)
        upload.received(second.span)
        let early = (upload.bytes, upload.isWhole)
        #expect(early == (3, false))
        upload.receivedEnd()
        let end = upload.isWhole
        #expect(end)
        let none = RequestUpload(.none, coding: .passes)
        let isWhole = none.isWhole
        #expect(isWhole, "a request without a body is whole at once")
    }

    // MARK: Operations

    /// Returns a JSON object of so many bytes that names an operation.
    private func object(_ count: Int) -> [UInt8] {
        let beginning = Array(#"{"op":"feed""#.utf8)
        return beginning + [UInt8](repeating: 0x20, count: count - beginning.count - 1) + [0x7d]
    }

    @Test(arguments: [true, false])
    func `the longest body that is read names its operation, and a longer one keeps no memory`(fits: Bool) {
        let budget = MemoryBudget(bytes: 1 << 20)
        let body = object(JSONMembers.bytesMax + (fits ? 0 : 1))
        var upload = RequestUpload(.chunked, coding: .passes)
        upload.read(OperationKey(["op"]), memory: MemoryShare(of: budget))
        upload.received(body.span.extracting(..<1000))
        let early = upload.operation
        #expect(early == nil && budget.takenBytes == 1000)
        upload.received(body.span.extracting(1000...))
        let values = upload.operation?.members.map { $0.value }
        #expect(values == (fits ? ["feed"] : nil))
        #expect(budget.takenBytes == (fits ? body.count : 0))
    }

    @Test func `without memory a body names no operation, not even by its end`() {
        let budget = MemoryBudget(bytes: 1000)
        var upload = RequestUpload(.chunked, coding: .passes)
        upload.read(OperationKey(["op"]), memory: MemoryShare(of: budget))
        let (lost, whole) = (object(1001), object(100))
        upload.received(lost.span)
        upload.received(whole.span)
        let operation = upload.operation
        #expect(operation == nil && budget.takenBytes == 0)
    }
}
