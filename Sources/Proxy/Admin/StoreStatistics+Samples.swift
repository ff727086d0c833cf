package import Dictionaries

extension StoreStatistics {
    /// What the store holds and has done, as samples.
    package var samples: [MetricSample] {
        [
            MetricSample(MetricsTable.storeVersions, [], versions),
            MetricSample(MetricsTable.storeChains, [], chains),
            MetricSample(MetricsTable.storeBytes, ["memory"], memoryBytes),
            MetricSample(MetricsTable.storeBytes, ["disk"], diskBytes),
            MetricSample(MetricsTable.storeWriteErrors, [], writeErrors),
            MetricSample(MetricsTable.storeSetAsides, [], setAsides),
        ]
            + Eviction.allCases.map { reason in
                MetricSample(MetricsTable.storeEvictions, [reason.rawValue], evictions[reason] ?? 0)
            }
    }
}
