internal import Dictionaries
internal import Testing

/// `delivery: auto`.
struct OfferFormTests {
    @Test(
        arguments: [
            ("public, max-age=59", false, true, .link), ("public, max-age=60", false, true, .inBand),
            ("s-maxage=600", false, true, .link),
            ("public, max-age=0, stale-while-revalidate=60", false, true, .inBand),
            ("public, no-cache, max-age=600", false, true, .link),
            ("max-age=0", false, true, .inBand), ("public", true, true, .inBand),
            ("public", false, false, .inBand), ("", false, true, .inBand),
            ("public, max-age=0, stale-while-revalidate=60, must-revalidate", false, true, .link),
        ] as [(String, Bool, Bool, OfferForm)])
    func `a Link is used where the answer itself would not be kept for a minute`(
        cacheControl: String, routePromisesLife: Bool, isRouteWritten: Bool, form: OfferForm
    ) {
        let cacheControl = CacheControl([cacheControl])
        let chosen = OfferForm.automatic(
            freshness: Freshness(cacheControl: cacheControl, receivedAt: 0), cacheControl: cacheControl,
            isDocument: true, routePromisesLife: routePromisesLife, isRouteWritten: isRouteWritten)
        #expect(chosen == form)
    }

    @Test func `what is no document stays in band`() {
        let cacheControl = CacheControl(["public, max-age=0"])
        let chosen = OfferForm.automatic(
            freshness: Freshness(cacheControl: cacheControl, receivedAt: 0), cacheControl: cacheControl,
            isDocument: false, routePromisesLife: false, isRouteWritten: true)
        #expect(chosen == .inBand)
    }
}
