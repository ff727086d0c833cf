import Primitives

@testable import HTTP

/// Returns the bytes of a text.
func wire(_ text: String) -> [UInt8] { Array(text.utf8) }

/// The result of parsing a message, in a comparable form.
enum Outcome: Equatable {
    case needsMore
    case failed(ParseError)
    case head(written: String, consumed: Int)
}

/// Parses a request that has arrived whole.
func parseRequest(_ text: String, _ limits: MessageLimits = MessageLimits()) throws(ParseError)
    -> RequestHead?
{
    var parser = HeadParser(limits: limits)
    return try parser.parseRequest(text.utf8.span)
}

/// Parses a response that has arrived whole.
func parseResponse(_ text: String, _ limits: MessageLimits = MessageLimits()) throws(ParseError)
    -> ResponseHead?
{
    var parser = HeadParser(limits: limits)
    return try parser.parseResponse(text.utf8.span)
}

/// Returns the fault of a request, nil if there is none.
func requestFault(_ text: String, _ limits: MessageLimits = MessageLimits()) -> ParseError? {
    do throws(ParseError) {
        _ = try parseRequest(text, limits)
        return nil
    } catch {
        return error
    }
}

/// Returns the fault of a response, nil if there is none.
func responseFault(_ text: String, _ limits: MessageLimits = MessageLimits()) -> ParseError? {
    do throws(ParseError) {
        _ = try parseResponse(text, limits)
        return nil
    } catch {
        return error
    }
}

/// Feeds a head in growing prefixes that end at the cuts and at the end, as a connection does.
func outcome(ofHead bytes: [UInt8], isRequest: Bool, cuts: [Int], _ limits: MessageLimits = MessageLimits())
    -> Outcome
{
    var parser = HeadParser(limits: limits)
    for cut in cuts + [bytes.count] {
        do throws(ParseError) {
            var written: [UInt8] = []
            if isRequest {
                guard let head = try parser.parseRequest(bytes.span.extracting(0..<cut)) else { continue }
                HeadWriter.write(head, into: &written)
            } else {
                guard let head = try parser.parseResponse(bytes.span.extracting(0..<cut)) else { continue }
                HeadWriter.write(head, into: &written)
            }
            return .head(written: String(written.span), consumed: parser.consumed)
        } catch {
            return .failed(error)
        }
    }
    return .needsMore
}

/// A generator with the same sequence in every run.
struct SplitMix64: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}
