/// A reason to end the demo, in one line that says what to do.
struct DemoError: Error, Equatable, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
