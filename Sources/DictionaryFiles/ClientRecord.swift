package import Dictionaries
internal import Foundation

/// The record of a dictionary, with the fields of its response for when a 304 confirms it.
package struct ClientRecord: Codable, Sendable {
    package let dictionary: CachedDictionary
    package let fields: [ResponseField]
    /// A digest of the request fields on which the response depends (RFC 9111 section 4.1); nil if it answers no request.
    package let selection: String?

    /// Makes the record of a response with these fields; as a 304, it updates those of `old`.
    ///
    /// - Parameter selection: Returns the digest for a response with the given fields; nil by default.
    package init(
        dictionary: CachedDictionary, fields sent: [ResponseField], updating old: ClientRecord? = nil,
        selection: ([ResponseField]) -> String? = { _ in nil }
    ) {
        let fields = (old?.fields ?? []).updated(by: sent)
        (self.dictionary, self.fields, self.selection) = (dictionary, fields, selection(fields))
    }

    /// Reads a file; nil if it is damaged, or of another format.
    init?(json bytes: [UInt8]) {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        guard let record = try? decoder.decode(ClientRecord.self, from: Data(bytes)),
            record.dictionary.format == CachedDictionary.currentFormat,
            Digest(hex: record.dictionary.digest) != nil, (0..<Int.max).contains(record.dictionary.bytes)
        else { return nil }
        self = record
    }

    /// Returns the bytes of its file.
    func json() throws -> Data {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        return try encoder.encode(self)
    }

    /// True if the response said that bodies of requests may be in dcz.
    var announcesUploads: Bool {
        AcceptEncoding(fields.lines("accept-encoding")).quality(of: .dcz) > 0
    }
}

/// A line of a response's head.
package struct ResponseField: Codable, Equatable, Sendable {
    package let name: String
    package let value: String

    package init(name: String, value: String) { (self.name, self.value) = (name, value) }
}

extension [ResponseField] {
    /// Returns the lines of a field, by its name in lower case.
    package func lines(_ name: String) -> [String] {
        filter { $0.name.lowercased() == name }.map(\.value)
    }

    /// Returns the stored fields as those of a 304 update them (RFC 9111 section 3.2).
    package func updated(by sent: [ResponseField]) -> [ResponseField] {
        let names = Set(sent.map { $0.name.lowercased() })
        return filter { !names.contains($0.name.lowercased()) } + sent
    }
}

/// A dictionary whose body has been checked against its digest.
package struct VerifiedDictionary: Sendable {
    package let record: ClientRecord
    package let body: Body

    package init(record: ClientRecord, body: Body) { (self.record, self.body) = (record, body) }
}
