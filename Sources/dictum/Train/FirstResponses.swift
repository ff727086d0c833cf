internal import Dictionaries
internal import Proxy
internal import Storage

extension EstimateReport.FirstResponses {
    /// Trains and judges a dictionary for each route of some histories.
    static func all(
        of collection: HistoryCollection, _ estimator: Estimator, _ progress: ProgressBar
    ) throws(CommandError) -> [Self] {
        var routes = RouteSamples()
        for history in collection.histories {
            let origin = history.isReal ? history.url.origin : ""
            routes.change(origin, history.url.path) {
                $0.add(history, estimator, filesAreResources: false)
            }
        }
        return try all(of: routes, estimator, progress)
    }

    /// Trains and judges a dictionary for each group of URLs that a proxy observes, by what its store has of them.
    ///
    /// Nothing is written, so that the versions need not be proven to be public.
    static func all(
        of report: SavingsReport, _ store: StoreCatalogue, _ estimator: Estimator, _ progress: ProgressBar
    ) throws -> [Self] {
        let observed = report.routes.filter { $0.mode == "observe" }.flatMap(\.groups)
        let groups = Set(observed.map { [$0.authority, $0.match] })
        var routes = RouteSamples()
        for version in try store.versions() {
            let (authority, path) = (version.chainKey.authority, PathAndQuery(version.url).path)
            guard groups.contains([authority, PathShape.pattern(of: path)]),
                case .sound(let body) = try store.body(of: version)
            else { continue }
            routes.change(authority, path) { $0.add(TrainingSample(version, body), unless: nil) }
        }
        return try all(of: routes, estimator, progress)
    }

    /// The routes with too few URLs have only clients that return.
    private static func all(
        of routes: RouteSamples, _ estimator: Estimator, _ progress: ProgressBar
    ) throws(CommandError) -> [Self] {
        var all: [Self] = []
        for (origin, match, samples) in routes.all
        where samples.resourceCount >= SampleSplit.samplesMin {
            guard let split = SampleSplit(samples.samples) else { continue }
            let training = DictionaryTraining(
                split: split, sizes: estimator.measurement.sizes, responses: 100)
            let verdict = try training.outcome(showing: progress).verdict
            all.append(
                .init(
                    origin: origin, match: match, heldOut: verdict.heldOut,
                    plainBytes: verdict.plainBytes, builtBytes: verdict.best?.dcb,
                    downloadBytes: verdict.best?.downloadBytes,
                    paysAfterResponses: verdict.best?.paysAfterResponses))
        }
        return all
    }
}

/// The samples of several routes, in the order in which the routes came.
private struct RouteSamples {
    /// The bodies of a route are bounded: more take longer to read, and change little.
    private static let bytesMax = 64 << 20

    private(set) var all: [(origin: String, match: String, samples: TrainingSamples)] = []

    /// Changes the samples of the route that a path suggests, as long as there is room.
    mutating func change(_ origin: String, _ path: String, _ change: (inout TrainingSamples) -> Void) {
        let match = PathShape.pattern(of: path)
        let place = all.firstIndex { $0.origin == origin && $0.match == match } ?? all.count
        if place == all.count { all.append((origin, match, TrainingSamples(matching: nil))) }
        if all[place].samples.bytes < Self.bytesMax { change(&all[place].samples) }
    }
}
