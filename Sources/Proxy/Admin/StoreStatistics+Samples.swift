package import Dictionaries

extension StoreStatistics {
    /// What the store holds and has done, as samples.
    package var samples: [MetricSample] {
        [
            MetricSample(MetricsTable.storeVersions, [], versions),
            MetricSample(MetricsTable.storeChains, [], chains),
            MetricSample(MetricsTable.storeChainsInProbation, [], chainsInProbation),
            MetricSample(MetricsTable.storeBytes, ["memory"], memoryBytes),
            MetricSample(MetricsTable.storeBytes, ["packed"], packedBytes),
            MetricSample(MetricsTable.storeBytes, ["index"], indexBytes),
            MetricSample(MetricsTable.storeBytes, ["disk"], diskBytes),
            MetricSample(MetricsTable.storeBodyBytes, ["whole"], bodyBytesWritten),
            MetricSample(MetricsTable.storeBodyBytes, ["stored"], bodyBytesStored),
            MetricSample(MetricsTable.storeWriteErrors, [], writeErrors),
            MetricSample(MetricsTable.storeSetAsides, [], setAsides),
            MetricSample(MetricsTable.advertised, ["found"], advertisedFound),
            MetricSample(MetricsTable.advertised, ["unknown"], advertisedUnknown),
        ]
            + standings.sorted { $0.key < $1.key }.map { standing, count in
                MetricSample(MetricsTable.storeHolders, [standing], count)
            }
            + Eviction.allCases.map { reason in
                MetricSample(MetricsTable.storeEvictions, [reason.rawValue], evictions[reason] ?? 0)
            }
            + AdmissionRefusal.allCases.map { reason in
                MetricSample(MetricsTable.admissionRefusals, [reason.rawValue], refusals[reason] ?? 0)
            }
    }
}
