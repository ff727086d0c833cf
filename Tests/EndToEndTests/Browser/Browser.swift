/// A browser that has been started on a page.
protocol Browser: AnyObject {
    var process: RunningProcess { get }
}
