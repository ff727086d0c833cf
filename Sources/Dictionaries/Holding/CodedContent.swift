/// The rule by which clients tell whether a body is what Content-Encoding says of it; pure.
package enum CodedContent {
    /// Returns true if a response has the whole content; all others have none, or a part, which does not decode by itself.
    ///
    /// Their Content-Encoding is that of the content which another request would get (RFC 9110 sections 6.4.1 and 15.3.7).
    package static func isWhole(status: Int, method: String) -> Bool {
        method != "HEAD" && ![204, 205, 206, 304].contains(status)
    }

    /// Returns true if a body of so many bytes is to be decoded.
    ///
    /// Some servers name the coding of a body that they do not have, redirects in particular. But a delta is never empty.
    package static func needsDecoding(bytes: Int, _ coding: ContentCoding) -> Bool {
        bytes > 0 || coding.usesDictionary
    }
}
