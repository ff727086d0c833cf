internal import Dictionaries
internal import Primitives
internal import Storage

/// The copy of a body that goes out piece by piece, and becomes a version once it is complete.
struct VersionCopy: ~Copyable {
    /// The slot in the store's memory for the copy.
    let slot: AdmissionSlot
    /// The body as far as it has come, without the upstream's coding.
    private(set) var bytes: [UInt8] = []
    /// Decodes the pieces for the copy alone; nil if they come decoded.
    private var removal: CodingRemoval?
    private let bytesMax: Int

    /// Creates an empty copy; `removal` decodes pieces that go to the client as the upstream coded them.
    init(slot: AdmissionSlot, bytesMax: Int, removal: consuming CodingRemoval? = nil) {
        self.slot = slot
        self.bytesMax = bytesMax
        self.removal = removal
    }

    /// Adds a piece of the body; returns false if there is no room for it or it is malformed.
    mutating func append(_ piece: Span<UInt8>) -> Bool {
        guard removal != nil else {
            bytes.append(piece)
            return fits
        }
        removal?.append(piece)
        while removal?.isBehind == true {
            do throws(CodingRemoval.Failure) {
                try removal?.decodePiece(into: &bytes, takesAll: false)
            } catch {
                return false
            }
            guard slot.extend(to: bytes.count) else { return false }
        }
        return fits
    }

    private var fits: Bool { bytes.count <= bytesMax && slot.extend(to: bytes.count) }

    /// Returns true if the upstream's coding ended where the body did.
    func isComplete() -> Bool {
        switch removal {
        case .some(let removal): removal.isComplete()
        case .none: true
        }
    }
}
