/// An element of a `DemandQueue`, which remembers its place so that it can be removed from the middle.
///
/// It is in one queue at a time. Only the owner of the queue changes the place.
protocol DemandQueueElement: AnyObject, Sendable {
    var queuePlace: Int { get set }
}
