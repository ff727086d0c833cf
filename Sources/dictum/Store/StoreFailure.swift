/// An error of a store command, in one line.
struct StoreFailure: Error {
    let text: String

    init(_ text: String) {
        self.text = text
    }
}
