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
