/// A regular expression of a regexp group: the part of JavaScript's that means something for the bytes of a URL.
///
/// Characters, `.`, classes, `\d \w \s` and their opposites, `(?:…)`, `|`, `* + ? {n,m}` and their lazy forms; no
/// assertions and no references back, which no matcher in linear time can follow.
indirect enum RegularExpression {
    /// A byte of a set.
    case set(ByteSet)
    /// One after the other.
    case sequence([RegularExpression])
    /// One of them, the earlier preferred.
    case alternatives([RegularExpression])
    /// As often as the bounds allow.
    case repeated(RegularExpression, minimum: Int, maximum: Int?, isLazy: Bool)

    /// Parses the text between the parentheses; the offset is that of its first character in the pattern.
    static func parse(_ text: String, offset: Int) throws(PatternError) -> RegularExpression {
        var parser = RegularExpressionParser(Array(text.unicodeScalars), offset: offset)
        return try parser.whole()
    }
}
