import Foundation
import TestSupport
import Testing

@testable import Proxy

/// `memory`, and what the process may use.
@Suite struct BudgetsTests {
    private static let mebibyte = 1 << 20

    @Test func `the shares add up to the whole, so that the budgets never exceed it`() {
        let sum = Budget.allCases.reduce(0) { $0 + $1.share }
        #expect(abs(sum - 1) < 1e-9)
        for usable in [0, 256 << 20, 3 << 30, 1 << 40] {
            let budgets = Budgets(.init(), usable: usable)
            #expect(Budget.allCases.reduce(0) { $0 + budgets[$1] } <= budgets.total)
        }
    }

    @Test(arguments: [(0, 64), (100, 64), (256, 64), (260, 65), (512, 128), (16_384, 4_096)])
    func `without a setting they are a quarter of what the process may use, and at least 64 MiB`(
        usable: Int, total: Int
    ) throws {
        for text in ["", "memory: auto", "memory: {total: auto}"] {
            let budgets = Budgets(try configuration(text).memory, usable: usable << 20)
            #expect(budgets.total == total << 20)
        }
    }

    @Test func `a size is the limit of all, and a section also gives shares`() throws {
        let short = Budgets(try configuration("memory: 100MiB").memory, usable: 1 << 40)
        #expect(short.total == 100 << 20)
        #expect(short[.coding] == 40 << 20 && short[.store] == 20 << 20)
        let section = Budgets(try configuration("memory: {total: 100MiB, store: 3%, deltas: 0%}").memory)
        #expect(section[.store] == 3 << 20 && section[.deltas] == 0 && section[.coding] == 40 << 20)
    }

    @Test(arguments: [
        ("memory: 16383KiB", "memory is \"16383KiB\": expected auto, or a size from 16MiB to 1TiB"),
        ("memory: 1025GiB", "expected auto, or a size from 16MiB to 1TiB"),
        ("memory: {store: 101%}", "memory.store is \"101%\": expected a percentage from 0% to 100%"),
        ("memory: {store: 20.1%}", "2:9: memory: the shares add up to 101%: expected at most 100%"),
    ])
    func `a limit out of bounds, and shares of more than everything, are mistakes`(
        text: String, expected: String
    ) {
        #expect(mistakes(text).contains { $0.contains(expected) }, "\(mistakes(text))")
    }

    @Test(arguments: [
        "memory: 16MiB", "memory: 1TiB", "memory: {store: 20%}", "memory: {store: 0%, coding: 60%}",
    ])
    func `bounds themselves are accepted`(text: String) {
        #expect(mistakes(text) == [])
    }

    // MARK: What the process may use

    @Test func `this process may use some memory, and no more than the machine has`() {
        #expect(1..<(1 << 50) ~= ProcessMemory.usableBytes())
    }

    @Test(
        arguments: [
            // Version 2: of the group, of a group above it, and the bound at which the kernel slows the process down.
            ("0::/a/b\n", ["a/b/memory.max": "4096\n", "a/b/memory.high": "max\n"], 4096),
            ("0::/a/b\n", ["a/b/memory.max": "max\n", "a/memory.max": "8192\n"], 8192),
            ("0::/a/b\n", ["a/b/memory.max": "4096\n", "a/b/memory.high": "2048\n"], 2048),
            // A container that sees the path of the machine, and itself at the top.
            ("0::/docker/0123\n", ["memory.max": "1024\n"], 1024),
            ("0::/\n", ["memory.max": "1024\n"], 1024),
            // Version 1, and a machine with both.
            (
                "5:cpu,cpuacct:/x\n4:memory:/a\n0::/\n",
                [
                    "memory/a/memory.limit_in_bytes": "512\n",
                    "memory/memory.limit_in_bytes": "9223372036854771712\n",
                ], 512
            ),
            ("4:memory,hugetlb:/a\n", ["memory/memory.limit_in_bytes": "256\n"], 256),
        ] as [(String, [String: String], Int)])
    func `the least limit of the control groups counts`(groups: String, files: [String: String], least: Int)
        throws
    {
        #expect(try limits(groups, files).min() == least)
    }

    @Test(
        arguments: [
            ("0::/a\n", ["a/memory.max": "max\n"]), ("0::/a\n", [:]), ("", ["memory.max": "1\n"]),
            ("nonsense\n:\n", [:]), ("1:name=systemd:/a\n", ["a/memory.max": "1\n"]),
            ("0::/a\n", ["a/memory.max": "12x\n"]),
        ] as [(String, [String: String])])
    func `without a limit there is none`(groups: String, files: [String: String]) throws {
        #expect(try limits(groups, files) == [])
    }

    /// Returns the limits with these files below `/sys/fs/cgroup`.
    private func limits(_ groups: String, _ files: [String: String]) throws -> [Int] {
        let root = try TemporaryFolder()
        let all = files.map { ("sys/fs/cgroup/\($0)", $1) } + [("proc/self/cgroup", groups)]
        for (name, text) in all {
            let file = URL(filePath: root.file(name))
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file)
        }
        return withExtendedLifetime(root) { ProcessMemory.groupLimits(root: root.path) }
    }
}
