/// Makes example URLs that a URL Pattern matches.
enum PatternExample {
    /// Returns three URLs: two that differ only in the parts that `isKept` rejects, and one that differs in the
    /// others.
    static func urls(of pattern: String, varying isKept: (String) -> Bool) -> [String] {
        let kept = ["one", "one", "two"]
        let others = ["1a2b", "3c4d", "1a2b"]
        var urls: [String] = []
        for (value, other) in zip(kept, others) {
            let url = fill(Array(pattern.unicodeScalars)) { isKept($0) ? value : other }
            if !urls.contains(url) { urls.append(url) }
        }
        return urls
    }

    private static func fill(_ scalars: [Unicode.Scalar], _ value: (String) -> String) -> String {
        var url = ""
        var index = 0
        var unnamed = 0
        while index < scalars.count {
            let scalar = scalars[index]
            index += 1
            switch scalar {
            case "\\" where index < scalars.count:
                url.unicodeScalars.append(scalars[index])
                index += 1
            case ":" where index < scalars.count && isNameStart(scalars[index]):
                let end = scalars[index...].firstIndex { !isNamePart($0) } ?? scalars.count
                var name = String.UnicodeScalarView()
                name.append(contentsOf: scalars[index..<end])
                url += value(String(name))
                index = modifierEnd(groupEnd(end, in: scalars), in: scalars)
            case "*", "(":
                url += value(String(unnamed))
                unnamed += 1
                let end = scalar == "(" ? groupEnd(index - 1, in: scalars) : index
                index = modifierEnd(end, in: scalars)
            case "}": index = modifierEnd(index, in: scalars)
            case "{": break
            default: url.unicodeScalars.append(scalar)
            }
        }
        return url
    }

    private static func isNameStart(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "_" || scalar == "$" || scalar.properties.isIDStart
    }

    private static func isNamePart(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "$" || scalar.properties.isIDContinue
    }

    /// Returns the index after the group in parentheses at `start`, or `start` without one.
    private static func groupEnd(_ start: Int, in scalars: [Unicode.Scalar]) -> Int {
        guard start < scalars.count, scalars[start] == "(" else { return start }
        var depth = 0
        var index = start
        while index < scalars.count {
            switch scalars[index] {
            case "\\": index += 1
            case "(": depth += 1
            case ")":
                depth -= 1
                if depth == 0 { return index + 1 }
            default: break
            }
            index += 1
        }
        return scalars.count
    }

    private static func modifierEnd(_ start: Int, in scalars: [Unicode.Scalar]) -> Int {
        start < scalars.count && ["*", "+", "?"].contains(scalars[start]) ? start + 1 : start
    }
}
