/// The name of a delta: body, dictionary, coding and scope.
///
/// The parameters of the coding need no place here: they follow from these, and a delta made with stronger ones
/// replaces the former.
package struct DeltaKey: Hashable, Sendable {
    package let body: Digest
    package let dictionary: Digest
    package let coding: ContentCoding
    package let scope: DeltaScope

    package init(body: Digest, dictionary: Digest, coding: ContentCoding, scope: DeltaScope) {
        self.body = body
        self.dictionary = dictionary
        self.coding = coding
        self.scope = scope
    }
}
