/// What a `DemandQueue` holds: it remembers where it stands, so that it can be taken out of the middle.
///
/// In one queue at a time, whose own note this is; touched by whoever changes the queue alone.
protocol DemandQueueElement: AnyObject, Sendable {
    var queuePlace: Int { get set }
}
