import Foundation
import Testing

@testable import Storage

/// The right to write a store, which one holder has at a time.
@Suite struct StoreLockTests {
    private let folder: StoreFolder

    init() throws {
        folder = try StoreFolder()
    }

    private var file: String { folder.database + ".lock" }

    private func take() -> StoreLock? {
        guard case .taken(let lock) = StoreLock.take(for: folder.database) else { return nil }
        return lock
    }

    @Test func `who has the lock is named to others, until it is released`() throws {
        let first = try #require(take())
        guard case .held(by: let holder) = StoreLock.take(for: folder.database) else {
            Issue.record("it was taken twice")
            return
        }
        #expect(holder == getpid())
        first.release()
        let second = try #require(take())
        #expect(second.isInForce)
        try FileManager.default.removeItem(atPath: file)
        #expect(!second.isInForce)
        let third = try #require(take())
        #expect(third.isInForce && !second.isInForce, "the file is another one")
    }

    @Test(arguments: [
        ("", true), ("0123456789\n", true), ("\u{0}\u{0}", true), ("12/", false), ("12:", false),
        ("a lock of another program", false),
    ])
    func `a file with the number of a process at most is a lock of a store`(content: String, isLock: Bool)
        throws
    {
        #expect(!StoreLock.wasTaken(for: folder.database), "there is none")
        try Data(content.utf8).write(to: URL(fileURLWithPath: file))
        #expect(StoreLock.wasTaken(for: folder.database) == isLock)
    }
}
