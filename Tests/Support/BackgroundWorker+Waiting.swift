package import Storage

extension BackgroundWorker {
    /// Waits until every job that was submitted before has ended; false if that takes too long.
    package func finish() -> Bool {
        let gate = Gate()
        return submit { gate.open() } && gate.wait()
    }
}
