internal import Primitives

/// The Clear-Site-Data response field, by which a server logs a client out (W3C Clear Site Data section 3.1).
package enum ClearSiteData {
    /// Returns true if the lines end the lives of the dictionaries of their origin (RFC 9842 section 10).
    package static func endsDictionaries(_ lines: [String]) -> Bool {
        lines.flatMap { $0.split(separator: ",") }
            .contains { [#""cache""#, #""cookies""#, #""*""#].contains($0.trimmed) }
    }
}
