internal import Dictionaries
internal import Testing

/// The responses on which `cache_control` replaces the upstream's field.
struct CacheControlOverrideTests {
    private static let override = CacheControlOverride("public, max-age=60")

    private func applies(_ change: Change, _ override: CacheControlOverride = override) -> Bool {
        let exchange = Exchange(change)
        return override.applies(
            request: exchange.request, response: exchange.response, policy: exchange.route.policy)
    }

    @Test(arguments: [
        Change { _ in }, Change { $0.response.status = 304 }, Change { $0.request.method = .head },
        Change { $0.response.cacheControl = CacheControl(["no-cache"]) },
        Change {
            $0.request.hasCookie = true
            $0.response.cacheControl = CacheControl(["public"])
        },
        Change {
            $0.request.hasAuthorization = true
            $0.response.cacheControl = CacheControl(["s-maxage=1, must-revalidate"])
        },
        Change { $0.response.hasUseAsDictionary = true }, Change { $0.request.method = .query },
        Change { ($0.request.method, $0.route.methods) = (.post, [.post]) },
    ])
    func `it goes on 200 and 304 to GET and HEAD, and to the methods of the route`(change: Change) {
        #expect(applies(change))
    }

    @Test(arguments: [
        Change { $0.response.status = 404 }, Change { $0.response.status = 206 },
        Change { $0.request.method = .post }, Change { $0.request.method = .other },
        Change { ($0.request.method, $0.route.methods) = (.query, [.get]) },
        // A lifetime would let caches answer later GETs with it.
        Change {
            ($0.request.method, $0.route.methods, $0.response.contentLocation) = (.post, [.post], .target)
        },
        Change { $0.response.cacheControl = CacheControl(["no-store"]) },
        Change { $0.response.cacheControl = CacheControl(["no-transform, max-age=1"]) },
        Change { $0.response.cacheControl = CacheControl(["private"]) },
        Change { $0.response.setCookieNames = ["a"] },
        Change {
            $0.response.setCookieNames = ["lb"]
            $0.route.ignoredSetCookies = ["lb"]
        },
        Change { ($0.response.varyNames, $0.request.hasCookie) = (["cookie"], true) },
        Change { $0.request.hasCookie = true },
        Change { $0.request.hasAuthorization = true }, Change { $0.request.hasPersonalField = true },
        Change { $0.request.hasClientCertificate = true },
        // What lifts the mark would be replaced.
        Change {
            $0.request.hasAuthorization = true
            $0.response.cacheControl = CacheControl(["no-cache, must-revalidate"])
        },
        Change {
            $0.request.hasCookie = true
            $0.response.cacheControl = CacheControl(["max-age=5, immutable"])
        },
        Change { $0.request.hasPersonalQuery = true }, Change { $0.route.areDictionariesOn = false },
        Change { $0.route.hasDictionary = false },
    ])
    func `it never touches an answer that is somebody's own, or says what must not be changed`(
        change: Change
    ) {
        #expect(!applies(change))
    }

    @Test(arguments: [
        Change { $0.request.hasCookie = true }, Change { $0.response.setCookieNames = ["a"] },
        Change { $0.response.cacheControl = CacheControl(["private, no-cache"]) }, Change { _ = $0 },
    ])
    func `a value that says private goes on personal answers, unless these have no dictionaries`(
        change: Change
    ) {
        let value = CacheControlOverride("private, max-age=60")
        #expect(applies(change, value))
        let off = Change {
            change.apply(&$0)
            ($0.route.personalUse, $0.response.cacheControl.isPrivate) = (.off, true)
        }
        #expect(!applies(off, value))
    }

    @Test(arguments: ["no-store", "no-transform"])
    func `a value that says private keeps from what must not be stored or changed`(control: String) {
        let change = Change { $0.response.cacheControl = CacheControl([control]) }
        #expect(!applies(change, CacheControlOverride("private, max-age=60")))
    }

    @Test func `where a route keeps what says no-store only a value that says private goes on it`() {
        let change = Change {
            $0.route.storesDespiteNoStore = true
            $0.response.cacheControl = CacheControl(["no-store"])
        }
        #expect(!applies(change))
        #expect(applies(change, CacheControlOverride("private, max-age=60")))
    }

    @Test func `on a private route only a value that says private itself goes on`() {
        let change = Change {
            $0.route.scope = .private
            $0.request.hasCookie = true
        }
        #expect(!applies(change))
        #expect(applies(change, CacheControlOverride("private, max-age=60")))
    }
}
