internal import Dictionaries
internal import Testing

/// `delivery: auto`.
struct OfferFormTests {
    @Test(
        arguments: [
            ("public, max-age=59", .link), ("public, max-age=60", .inBand), ("s-maxage=600", .link),
            ("public, max-age=0, stale-while-revalidate=60", .inBand),
            ("public, no-cache, max-age=600", .link), ("max-age=0", .inBand), ("", .inBand),
            ("public, max-age=0, stale-while-revalidate=60, must-revalidate", .link),
        ] as [(String, OfferForm)])
    func `a Link is used where the response itself would not be kept for a minute`(
        cacheControl: String, form: OfferForm
    ) {
        let cacheControl = CacheControl([cacheControl])
        let chosen = OfferForm.automatic(
            freshness: Freshness(cacheControl: cacheControl, receivedAt: 0), cacheControl: cacheControl,
            isDocument: true)
        #expect(chosen == form)
    }

    @Test func `what is no document stays in band`() {
        let cacheControl = CacheControl(["public, max-age=0"])
        let chosen = OfferForm.automatic(
            freshness: Freshness(cacheControl: cacheControl, receivedAt: 0), cacheControl: cacheControl,
            isDocument: false)
        #expect(chosen == .inBand)
    }
}
