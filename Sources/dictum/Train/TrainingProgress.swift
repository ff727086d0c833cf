internal import Dictionaries
internal import Storage

extension DictionaryTraining {
    /// Does all steps, and shows which.
    func outcome(
        showing progress: ProgressBar
    ) throws(CommandError) -> (verdict: TrainingVerdict, best: Body?) {
        var training = self
        do throws(CodingError) {
            while !training.isDone {
                let (done, count, text) = training.progress
                progress.show(done, of: count, text)
                try training.advance()
            }
        } catch {
            throw CommandError("a sample cannot be compressed: \(error.message)")
        }
        progress.end()
        return training.outcome
    }
}
