internal import FuzzTargets
internal import Glibc

#if !FUZZING
/// Tries the files named on the command line on the parser that DICTUM_FUZZ names: what a fuzzer has found.
@main
enum Replay {
    static func main() {
        for path in CommandLine.arguments.dropFirst() {
            Driver.target.check(bytes(of: path))
            print("\(path): ok")
        }
    }

    private static func bytes(of path: String) -> [UInt8] {
        // Safe: the stream is used on this thread only and closed once.
        guard let file = unsafe fopen(path, "r") else { fatalError("cannot read \(path)") }
        defer { unsafe fclose(file) }
        var bytes: [UInt8] = []
        // Safe: as above.
        while case let byte = unsafe fgetc(file), byte != EOF {
            bytes.append(UInt8(truncatingIfNeeded: byte))
        }
        return bytes
    }
}
#endif
