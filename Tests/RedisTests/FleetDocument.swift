import Foundation
import Testing

/// The parts of deploy/FLEET.md that operators copy.
enum FleetDocument {
    static func text() throws -> String {
        let root = URL(filePath: #filePath).appending(path: "../../..").standardized
        return try String(contentsOf: root.appending(path: "deploy/FLEET.md"), encoding: .utf8)
    }

    /// The words behind ACL of the line that makes the user; its lines may be continued by a backslash.
    static func aclLine() throws -> [String] {
        let text = try text().replacing("\\\n", with: " ")
        let line = try #require(text.split(separator: "\n").first { $0.contains("ACL SETUSER dictum") })
        return line.split(separator: " ").map(String.init).drop { $0 != "SETUSER" }
            .map { $0.trimmingCharacters(in: ["'"]) }
    }
}
