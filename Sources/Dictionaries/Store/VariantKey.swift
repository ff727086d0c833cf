/// The canonical text of the request fields that an answer varies on.
package enum VariantKey {
    /// One text for one combination of values, which no other combination can make.
    ///
    /// Each name and value is preceded by its length, so that no value can pretend to be the next field.
    /// Accept-Encoding and Available-Dictionary are left out: they choose the coding, not the body (RFC 9842
    /// section 6.2). `values` gets lower-case names and gives nil for a field that the request does not have,
    /// which is not the same as an empty one.
    package static func make(names: [String], values: (String) -> String?) -> String {
        let fields = Set(names.map { $0.lowercased() }).subtracting([
            "accept-encoding", "available-dictionary",
        ])
        var text = ""
        for name in fields.sorted() {
            text += "\(name.utf8.count):\(name)"
            if let value = values(name) {
                text += "=\(value.utf8.count):\(value)"
            }
            text += ";"
        }
        return text
    }
}
