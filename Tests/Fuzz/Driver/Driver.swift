internal import FuzzTargets
internal import Glibc

/// Tries inputs on the parser that the variable DICTUM_FUZZ names: inputs from libFuzzer (see .ci/fuzz), or in a build
/// without it, the files named on the command line.
@main
enum Driver {
    private static let target: FuzzTarget = {
        // Safe: the environment is not changed by this program.
        let name = unsafe getenv("DICTUM_FUZZ").map { unsafe String(cString: $0) } ?? ""
        guard let target = FuzzTarget(rawValue: name) else {
            let names = FuzzTarget.allCases.map(\.rawValue).joined(separator: ", ")
            fail("DICTUM_FUZZ must be one of: \(names)")
        }
        return target
    }()

    #if FUZZING
    static func main() {
        var (count, arguments) = unsafe (CommandLine.argc, CommandLine.unsafeArgv)
        // Safe: both outlive the call.
        exit(unsafe runFuzzer(&count, &arguments) { bytes, count in unsafe tryInput(bytes, count) })
    }
    #else
    static func main() {
        for path in CommandLine.arguments.dropFirst() {
            check(bytes(of: path))
            print("\(path): ok")
        }
    }
    #endif

    /// Stops the process where a rule is broken, which is how a fuzzer learns of it.
    fileprivate static func check(_ bytes: [UInt8]) {
        do throws(BrokenRule) {
            try target.check(bytes)
        } catch {
            fatalError("\(error)")
        }
    }

    /// Ends the process because it was called wrongly, in a way that no fuzzer takes for a finding.
    private static func fail(_ reason: String) -> Never {
        let line = Array("fuzz: \(reason)\n".utf8)
        // Safe: the array owns its bytes for the length of the call.
        _ = unsafe write(STDERR_FILENO, line, line.count)
        exit(64)
    }

    private static func bytes(of path: String) -> [UInt8] {
        // Safe: the stream is used on this thread only and closed once.
        guard let file = unsafe fopen(path, "r") else { fail("cannot read \(path)") }
        defer { unsafe fclose(file) }
        var bytes: [UInt8] = []
        // Safe: as above.
        while case let byte = unsafe fgetc(file), byte != EOF {
            bytes.append(UInt8(truncatingIfNeeded: byte))
        }
        return bytes
    }
}

#if FUZZING
/// Tries one input of libFuzzer's, whose own `main` wants the function to have this name, though it is not in use.
@_cdecl("LLVMFuzzerTestOneInput")
public func tryInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    // Safe: libFuzzer gives `count` readable bytes for the time of the call.
    unsafe Driver.check([UInt8](UnsafeBufferPointer(start: bytes, count: count)))
    return 0
}

/// libFuzzer as a library: tries inputs as the command line says.
@_silgen_name("LLVMFuzzerRunDriver")
private func runFuzzer(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ tryInput: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt
#endif
