internal import Primitives

/// An ordered list of patterns that finds the first one that matches.
///
/// It is a tree of the fixed texts at the start of matches. A look-up tries the patterns whose fixed text the path
/// has, so that it costs no more among a thousand patterns than among a few.
package struct PatternIndex: Sendable {
    /// The maximum depth of the tree; patterns that begin alike for longer are tried in turn.
    static let depthMax = 64

    /// A node; its edges and patterns are ranges of the shared lists.
    private struct Node {
        var edges = 0..<0
        var positions = 0..<0
    }

    private let patterns: [URLPattern]
    private let nodes: [Node]
    /// The next byte and the node behind it, sorted by byte at each node.
    private let edges: [(byte: UInt8, node: Int)]
    /// The positions of patterns, ascending at each node.
    private let positions: [Int]

    package init(_ patterns: [URLPattern]) {
        self.patterns = patterns
        var tree = [Draft()]
        for (position, pattern) in patterns.enumerated() {
            var node = 0
            for byte in pattern.fixedStart.prefix(Self.depthMax) {
                if let next = tree[node].next[byte] {
                    node = next
                } else {
                    tree[node].next[byte] = tree.count
                    node = tree.count
                    tree.append(Draft())
                }
            }
            tree[node].positions.append(position)
        }
        (nodes, edges, positions) = Self.flattened(tree)
    }

    /// Returns the position of the first pattern that matches a URL of the origin; the query has no question mark.
    package func first(path: String, query: String?) -> Int? { search(path, query) { _ in true } }

    /// Returns the first of the positions that count, by a function.
    package func first(path: String, query: String?, where counts: (Int) -> Bool) -> Int? {
        search(path, query, counts)
    }

    // Inlined twice, so that look-ups without a condition call no closure.
    @inline(__always)
    private func search(_ path: String, _ query: String?, _ counts: (Int) -> Bool) -> Int? {
        let bytes = path.utf8Bytes
        let text = bytes.span
        var best: Int?
        var budget = MatchBudget.unlimited
        var node = nodes[0]
        var depth = 0
        while true {
            for position in node.positions {
                let candidate = positions[position]
                if let best, candidate > best { break }
                if counts(candidate), patterns.span[candidate].matches(text, query: query, within: &budget) {
                    best = candidate
                    break
                }
            }
            guard depth < text.count, let next = next(of: node, text[depth]) else { return best }
            node = nodes[next]
            depth += 1
        }
    }

    private func next(of node: Node, _ byte: UInt8) -> Int? {
        var (low, high) = (node.edges.lowerBound, node.edges.upperBound)
        while low < high {
            let middle = (low + high) / 2
            let edge = edges[middle]
            if edge.byte == byte { return edge.node }
            if edge.byte < byte { low = middle + 1 } else { high = middle }
        }
        return nil
    }

    private struct Draft {
        var next: [UInt8: Int] = [:]
        var positions: [Int] = []
    }

    private static func flattened(_ tree: [Draft]) -> ([Node], [(byte: UInt8, node: Int)], [Int]) {
        var (edges, positions): ([(byte: UInt8, node: Int)], [Int]) = ([], [])
        let nodes = tree.map { draft in
            let (firstEdge, firstPlace) = (edges.count, positions.count)
            edges += draft.next.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
            positions += draft.positions
            return Node(edges: firstEdge..<edges.count, positions: firstPlace..<positions.count)
        }
        return (nodes, edges, positions)
    }
}
