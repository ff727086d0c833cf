/// The HTTP/1 version of a message; a minor version above 1 counts as 1.1 (RFC 9110 section 2.5).
package enum Version: Comparable, Sendable {
    case http10, http11
}
