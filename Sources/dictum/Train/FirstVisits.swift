internal import Dictionaries

extension EstimateReport.FirstResponses {
    private struct Route: Hashable {
        let origin: String
        let match: String
    }

    /// Trains and judges a dictionary for each route with enough URLs; the others have only clients that return.
    static func all(
        of collection: HistoryCollection, _ estimator: Estimator, _ progress: ProgressBar
    ) throws(CommandError) -> [Self] {
        var routes: [(route: Route, samples: TrainingSamples)] = []
        for history in collection.histories {
            let route = Route(
                origin: history.isReal ? history.url.origin : "",
                match: PathShape.pattern(of: history.url.path))
            let place = routes.firstIndex { $0.route == route } ?? routes.count
            if place == routes.count { routes.append((route, TrainingSamples(matching: nil))) }
            routes[place].samples.add(history, estimator, filesAreResources: false)
        }
        var all: [Self] = []
        for (route, samples) in routes where samples.resourceCount >= 2 * SampleSplit.countMin {
            guard let split = SampleSplit(samples.samples) else { continue }
            let training = DictionaryTraining(
                split: split, measurement: estimator.measurement, responses: 100)
            let verdict = training.judge(try training.candidates(progress), progress).verdict
            all.append(
                .init(
                    origin: route.origin, match: route.match, heldOut: verdict.heldOut,
                    plainBytes: verdict.plainBytes, builtBytes: verdict.best?.dcb,
                    downloadBytes: verdict.best?.downloadBytes,
                    paysAfterResponses: verdict.best?.paysAfterResponses))
        }
        return all
    }
}
