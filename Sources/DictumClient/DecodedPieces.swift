public import Foundation

/// The decoded body of a response, piece by piece; only one loop may run over it.
///
/// It ends only after the body has come whole. In every other case it throws, also if the task is cancelled: an
/// `AsyncThrowingStream` would end then as if nothing were missing.
public struct DecodedPieces: AsyncSequence, Sendable {
    /// A piece, which is never empty.
    public typealias Element = Data

    private let response: OpenResponse

    init(_ response: OpenResponse) { self.response = response }

    /// Returns the iterator, which takes the pieces from the response.
    public func makeAsyncIterator() -> Iterator { Iterator(response: response) }

    /// The rest of the body.
    public struct Iterator: AsyncIteratorProtocol {
        let response: OpenResponse
        private var isAtEnd = false

        init(response: OpenResponse) { self.response = response }

        /// Returns the next piece; nil after the last one.
        public mutating func next() async throws -> Data? {
            guard !isAtEnd else { return nil }
            try Task.checkCancellation()
            let piece = try await response.nextPiece()
            isAtEnd = piece == nil
            return piece
        }
    }
}
