/// A browser that has been started on a page.
protocol Browser: AnyObject {
    /// What runs it.
    var process: RunningProcess { get }
}
