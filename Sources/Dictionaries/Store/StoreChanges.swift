/// What happened to the rows of a store since they were last read, by whichever process.
enum StoreChanges {
    /// What a row is now.
    struct Change {
        let id: Int64
        /// Nil where the row is gone.
        let version: Version?
    }

    /// No other process has written.
    case none
    /// These rows were made, changed or removed.
    case some([Change])
    /// More than the feed tells: every row there is.
    case everything([Version])
}

/// How far a process has followed the feed of changes.
struct ChangePosition: Sendable {
    /// `PRAGMA data_version` of the writing connection: another number once somebody else has written.
    var dataVersion: Int?
    /// The last change that is in the index; nil before the first reading.
    var sequence: Int64?
}
