package import Dictionaries

extension StoreStatistics {
    /// What the store holds and has done, as samples.
    package var samples: [MetricSample] {
        [
            MetricSample(MetricsTable.storeVersions, [], versions),
            MetricSample(MetricsTable.storeChains, [], chains),
            MetricSample(MetricsTable.storeChainsInProbation, [], chainsInProbation),
            MetricSample(MetricsTable.storeBytes, ["memory"], memoryBytes),
            MetricSample(MetricsTable.storeBytes, ["index"], indexBytes),
            MetricSample(MetricsTable.storeBytes, ["disk"], diskBytes),
            MetricSample(MetricsTable.storeWriteErrors, [], writeErrors),
            MetricSample(MetricsTable.storeSetAsides, [], setAsides),
            MetricSample(MetricsTable.advertised, ["found"], advertisedFound),
            MetricSample(MetricsTable.advertised, ["evicted"], advertisedEvicted),
            MetricSample(MetricsTable.advertised, ["unknown"], advertisedUnknown),
            MetricSample(MetricsTable.chainsSlowed, [], chainsSlowed),
            MetricSample(MetricsTable.admissionsDeferred, [], admissionsDeferred),
            MetricSample(MetricsTable.chainsTooWide, [], chainsTooWide),
            MetricSample(MetricsTable.chainStops, [], chainStops),
        ]
            + Eviction.allCases.map { reason in
                MetricSample(MetricsTable.storeEvictions, [reason.rawValue], evictions[reason] ?? 0)
            }
            + AdmissionRefusal.allCases.map { reason in
                MetricSample(MetricsTable.admissionRefusals, [reason.rawValue], refusals[reason] ?? 0)
            }
    }
}
