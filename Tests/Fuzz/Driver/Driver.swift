internal import FuzzTargets
internal import Glibc

// With libFuzzer (see .ci/fuzz) its own main calls the function below; without it this program tries files again.
#if FUZZING
/// Tries one input of libFuzzer's on the parser that the variable DICTUM_FUZZ names.
@_cdecl("LLVMFuzzerTestOneInput")
public func tryInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    // Safe: libFuzzer gives `count` readable bytes for the time of the call.
    unsafe Driver.target.check([UInt8](UnsafeBufferPointer(start: bytes, count: count)))
    return 0
}
#endif

/// Which parser is tried.
enum Driver {
    static let target: FuzzTarget = {
        // Safe: the environment is not changed by this program.
        let name = unsafe getenv("DICTUM_FUZZ").map { unsafe String(cString: $0) } ?? ""
        guard let target = FuzzTarget(rawValue: name) else {
            fatalError(
                "DICTUM_FUZZ must be one of: \(FuzzTarget.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return target
    }()
}
