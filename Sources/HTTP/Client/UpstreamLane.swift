/// The connections of one loop to one target that are kept for the next request.
///
/// Confined to its loop. Who sends many requests to a target holds its lane: to look it up takes a hash.
package final class UpstreamLane {
    /// Where its connections lead.
    package let target: UpstreamTarget
    /// Kept connections, the one that was used last at the end.
    var idle: [ClientConnection] = []
    /// Whether connections may be kept; not where the target has gone.
    var isKept = true

    init(_ target: UpstreamTarget) {
        self.target = target
    }
}
