/// Splits options from values that are joined to them, as curl takes them: `-XPOST`, `-da=1`, `-H'Name: value'`.
///
/// The argument parser can do so itself, but takes what stands before an equals sign for the name of an option.
enum JoinedOptions {
    private static let short = ["-X", "-d", "-H"]
    /// The options whose value is the next word, whatever that looks like.
    private static let unconditional = short + ["--request", "--data"]

    /// Returns the words of a command line with those options apart; what follows `--` is left alone.
    static func split(_ words: some Sequence<String>) -> [String] {
        var all: [String] = []
        var isValue = false
        var isOver = false
        for word in words {
            let name = String(word.prefix(2))
            if !isValue, !isOver, word.count > 2, short.contains(name) {
                all += [name, String(word.dropFirst(2))]
                continue
            }
            isOver = isOver || word == "--" && !isValue
            isValue = !isValue && unconditional.contains(word)
            all.append(word)
        }
        return all
    }
}
