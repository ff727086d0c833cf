/// The average bytes of held-out responses over each candidate, and the best of the candidates.
package struct TrainingVerdict: Encodable, Sendable {
    package struct Candidate: Encodable, Sendable {
        package let method: DictionaryTraining.Method
        package let bytes: Int
        /// The bytes of a response, header included.
        package let dcz: Int
        package let dcb: Int
        /// The bytes of the dictionary in the best coding without one.
        package let downloadBytes: Int
        /// The number of responses that save as much as the download costs; nil if they save nothing.
        package let paysAfterResponses: Int?
        /// The bytes that a client saves beyond the download.
        package let balance: Int
    }

    package let trainedOn: Int
    package let heldOut: Int
    package let bodyBytes: Int
    /// The bytes of a response in the best coding without a dictionary.
    package let plainBytes: Int
    /// The number of responses by which the best is chosen.
    package let responses: Int
    package let candidates: [Candidate]
    /// The candidate that saves most; nil if none saves more than its download costs.
    package let best: Candidate?
}
