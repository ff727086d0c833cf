/// The idle connections of one loop to one target.
///
/// Confined to its loop. Hold it to send many requests to a target: to look it up costs a hash.
package final class UpstreamLane {
    package let target: UpstreamTarget
    /// The idle connections, the most recently used at the end.
    var idle: [ClientConnection] = []
    /// True while connections may be kept; false once the target is gone.
    var isKept = true

    init(_ target: UpstreamTarget) {
        self.target = target
    }
}
