package import Dictionaries

extension DeltaStatistics {
    /// What is kept of deltas and was done to make them, as samples.
    package var samples: [MetricSample] {
        [
            MetricSample(MetricsTable.deltaCacheLookups, ["hit"], cache.hits),
            MetricSample(MetricsTable.deltaCacheLookups, ["shared"], cache.shared),
            MetricSample(MetricsTable.deltaCacheLookups, ["miss"], cache.misses),
            MetricSample(MetricsTable.deltaCacheBytes, [], cache.bytes),
            MetricSample(MetricsTable.deltaCacheEvictions, [], cache.evictions),
            MetricSample(MetricsTable.preparedUses, ["hit"], prepared.hits),
            MetricSample(MetricsTable.preparedUses, ["shared"], prepared.shared),
            MetricSample(MetricsTable.preparedUses, ["indexed"], prepared.indexed),
            MetricSample(MetricsTable.preparedUses, ["reference"], prepared.references),
            MetricSample(MetricsTable.preparedBytes, [], prepared.bytes),
            MetricSample(MetricsTable.preparedEvictions, [], prepared.evictions),
            MetricSample(MetricsTable.verifyChecks, [], checks),
            MetricSample(MetricsTable.verifyFailures, [], failures),
        ]
            + StrongestPass.End.allCases.map { end in
                MetricSample(MetricsTable.strongestPasses, [end.rawValue], passes[end] ?? 0)
            }
    }
}
