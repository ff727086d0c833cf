internal import Glibc
internal import HTTP

/// The output of a fetched body.
enum BodyOutput {
    /// Writes to a file, or to standard output if the name is `-`.
    static func write(_ body: [UInt8], to name: String) throws(FetchError) {
        do throws(SystemError) {
            guard name != "-" else { return try OutputFile.write(body, to: STDOUT_FILENO) }
            try OutputFile(overwriting: name).write(body)
        } catch {
            throw .output("cannot write to \(name == "-" ? "standard output" : name): \(error.text)")
        }
    }
}
