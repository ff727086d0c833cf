/// The average bytes of held-out responses over each candidate, and the best of the candidates.
struct TrainingVerdict: Encodable, Sendable {
    struct Candidate: Encodable, Sendable {
        let method: DictionaryTraining.Method
        let bytes: Int
        /// The bytes of a response, header included.
        let dcz: Int
        let dcb: Int
        /// The bytes of the dictionary in the best coding without one.
        let downloadBytes: Int
        /// The number of responses that save as much as the download costs; nil if they save nothing.
        let paysAfterResponses: Int?
        /// The bytes that a client saves beyond the download.
        let balance: Int
    }

    let trainedOn: Int
    let heldOut: Int
    let bodyBytes: Int
    /// The bytes of a response in the best coding without a dictionary.
    let plainBytes: Int
    /// The number of responses by which the best is chosen.
    let responses: Int
    let candidates: [Candidate]
    /// The candidate that saves most; nil if none saves more than its download costs.
    let best: Candidate?
}
