/// Why a command on a store came to nothing, in one line.
struct StoreFailure: Error {
    let text: String

    init(_ text: String) {
        self.text = text
    }
}
