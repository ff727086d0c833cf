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
}
