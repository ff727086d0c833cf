import Foundation
import HTTP
import Testing

@testable import Dictionaries
@testable import Proxy
@testable import Redis
@testable import Storage

@Suite struct MetricsTests {
    @Test func `a time that is a bound counts below it, and one beyond all counts last`() {
        let buckets = [0, 500, 501, 1_000, 10_000_000, 10_000_001].map { LoopHistogram.bucket(of: $0) }
        #expect(buckets == [0, 0, 1, 1, 13, 14])
    }

    @Test func `series are summed one by one, each in its unit`() {
        let metric = Metric(name: "a", kind: .histogram, labels: [], help: "")
        let sums = MetricSample.summed([
            MetricSample(metric, [], 3, per: 1_000, suffix: "_sum"),
            MetricSample(metric, [], 5, suffix: "_count"),
            MetricSample(metric, [], 4, per: 1_000, suffix: "_sum"),
        ])
        #expect(sums.map(\.count) == [7, 5])
        #expect(sums.map(\.divisor) == [1_000, 1])
        #expect(sums.map(\.suffix) == ["_sum", "_count"])
    }

    private func record(_ change: (inout RequestRecord) -> Void) -> RequestRecord {
        var record = RequestRecord()
        record.status = 200
        change(&record)
        return record
    }

    /// The line of a rendered text that begins with a series, without the series.
    private func value(of series: String, in samples: [MetricSample]) -> String? {
        MetricSample.text(samples).split(separator: "\n").first { $0.hasPrefix(series + " ") }
            .map { String($0.dropFirst(series.count + 1)) }
    }

    @Test func `requests are counted by route, coding and reason`() {
        var counters = LoopCounters(routes: 2)
        for _ in 1...3 {
            counters.count(record { ($0.routeIndex, $0.coding, $0.reason) = (1, .dcz, .delta) })
        }
        counters.count(record { ($0.routeIndex, $0.reason) = (nil, nil) })
        counters.count(record { $0.routeIndex = 7 })
        let samples = counters.samples(routes: ["/a", "/*"])
        #expect(
            value(of: #"dictum_requests_total{route="/*",coding="dcz",reason="delta"}"#, in: samples) == "3")
        #expect(
            value(of: #"dictum_requests_total{route="none",coding="identity",reason="none"}"#, in: samples)
                == "2")
        #expect(!MetricSample.text(samples).contains(#"dictum_requests_total{route="/a""#))
    }

    @Test(arguments: [
        (0, "none"), (99, "none"), (101, "1xx"), (304, "3xx"), (599, "5xx"), (600, "none"), (-1, "none"),
    ])
    func `a status is counted by its class, for each route`(status: Int, label: String) {
        var counters = LoopCounters(routes: 1)
        counters.count(record { ($0.routeIndex, $0.status) = (0, status) })
        counters.count(record { $0.routeIndex = 0 })
        let samples = counters.samples(routes: ["/a"])
        #expect(value(of: "dictum_responses_total{route=\"/a\",status=\"\(label)\"}", in: samples) == "1")
        #expect(value(of: "dictum_responses_total{route=\"none\",status=\"\(label)\"}", in: samples) == "0")
    }

    @Test func `bytes, time and ends are summed over the loops`() {
        var loops = [LoopCounters(routes: 1), LoopCounters(routes: 1)]
        for loop in loops.indices {
            loops[loop].count(
                record {
                    $0.routeIndex = 0
                    $0.bodyBytesBefore = 1_000
                    $0.bodyBytesSent = 10
                    $0.durationMicroseconds = 1_500_000
                    $0.isComplete = false
                })
            loops[loop].countCompression(.dcb, nanoseconds: 250_000_000)
            loops[loop].countRejected(.headTooLarge)
            loops[loop].countUpstreamError(.connect, of: "")
            loops[loop].countUpstreamError(.reset, of: "shop")
            loops[loop].admissions.add()
            loops[loop].offers.add()
        }
        let samples = MetricSample.summed(loops.flatMap { $0.samples(routes: ["/*"]) })
        #expect(value(of: #"dictum_body_bytes_total{route="/*",stage="before"}"#, in: samples) == "2000")
        #expect(value(of: #"dictum_body_bytes_total{route="/*",stage="after"}"#, in: samples) == "20")
        #expect(value(of: #"dictum_compression_seconds_total{coding="dcb"}"#, in: samples) == "0.5")
        #expect(value(of: #"dictum_request_duration_seconds_sum{route="/*"}"#, in: samples) == "3")
        #expect(value(of: "dictum_aborted_responses_total", in: samples) == "2")
        #expect(value(of: #"dictum_rejected_requests_total{reason="head-too-large"}"#, in: samples) == "2")
        #expect(value(of: #"dictum_upstream_errors_total{kind="connect"}"#, in: samples) == "2")
        #expect(value(of: #"dictum_upstream_errors_total{name="shop",kind="reset"}"#, in: samples) == "2")
        #expect(value(of: "dictum_admissions_total", in: samples) == "2")
        #expect(value(of: "dictum_offers_total", in: samples) == "2")
    }

    @Test func `a bucket holds what is at most its bound, and all that is below`() {
        var counters = LoopCounters(routes: 0)
        for micros in [1_000, 1_001, 20_000_000] {
            counters.count(record { $0.durationMicroseconds = micros })
        }
        let samples = counters.samples(routes: [])
        let series = LoopHistogram.bounds.flatMap { bound in
            [bound, bound + 1].map { value(of: 1, microseconds: $0, upTo: bound) }
        }
        #expect(series == LoopHistogram.bounds.flatMap { _ in ["1", "0"] })
        #expect(
            value(of: #"dictum_request_duration_seconds_bucket{route="none",le="0.0005"}"#, in: samples)
                == "0")
        #expect(
            value(of: #"dictum_request_duration_seconds_bucket{route="none",le="0.001"}"#, in: samples) == "1"
        )
        #expect(
            value(of: #"dictum_request_duration_seconds_bucket{route="none",le="0.0025"}"#, in: samples)
                == "2")
        #expect(
            value(of: #"dictum_request_duration_seconds_bucket{route="none",le="10.0"}"#, in: samples) == "2")
        #expect(
            value(of: #"dictum_request_duration_seconds_bucket{route="none",le="+Inf"}"#, in: samples) == "3")
        #expect(value(of: #"dictum_request_duration_seconds_count{route="none"}"#, in: samples) == "3")
    }

    /// The count of requests of a time in the bucket of a bound.
    private func value(of count: Int, microseconds: Int, upTo bound: Int) -> String? {
        var counters = LoopCounters(routes: 0)
        for _ in 0..<count { counters.count(record { $0.durationMicroseconds = microseconds }) }
        let name = "dictum_request_duration_seconds_bucket"
        return value(
            of: "\(name){route=\"none\",le=\"\(Double(bound) / 1e6)\"}",
            in: counters.samples(routes: []))
    }

    @Test func `times are counted by route and by upstream, and only where there are some`() {
        var counters = LoopCounters(routes: 2)
        counters.count(
            record {
                ($0.routeIndex, $0.headMicroseconds, $0.durationMicroseconds) = (1, 2_000, 30_000)
            })
        counters.count(record { ($0.routeIndex, $0.status) = (1, 0) })
        let row = counters.row(ofUpstream: "shop")
        counters.upstreamConnectTime.add(microseconds: 700, row: row)
        for micros in [200, 30_000] { counters.turns.add(microseconds: micros) }
        for micros in [300, 40_000] {
            counters.count(
                record {
                    ($0.upstreamMicroseconds, $0.tryMicroseconds, $0.upstreamRow) = (50_000, micros, row)
                })
        }
        let samples = counters.samples(routes: ["/a", "/b"])
        for (series, expected) in [
            (#"dictum_response_head_seconds_count{route="/b"}"#, "1"),
            (#"dictum_response_head_seconds_sum{route="/b"}"#, "0.002"),
            (#"dictum_request_duration_seconds_count{route="/b"}"#, "2"),
            (#"dictum_upstream_connect_seconds_bucket{name="shop",le="0.0005"}"#, "0"),
            (#"dictum_upstream_connect_seconds_bucket{name="shop",le="0.001"}"#, "1"),
            (#"dictum_upstream_head_seconds_count{name="shop"}"#, "2"),
            (#"dictum_loop_turn_seconds_bucket{le="0.0005"}"#, "1"),
            ("dictum_loop_turn_seconds_count", "2"), ("dictum_loop_turn_seconds_sum", "0.0302"),
            (#"dictum_upstream_head_seconds_sum{name="shop"}"#, "0.0403"),
        ] {
            #expect(value(of: series, in: samples) == expected, "\(series)")
        }
        let text = MetricSample.text(samples)
        #expect(!text.contains(#"seconds_count{route="/a"}"#))
        #expect(!text.contains("dictum_upstream_head_seconds_count "))
    }

    @Test func `more names of upstreams than there are rows count as the one without a name`() {
        var counters = LoopCounters(routes: 0)
        let rows = (1...1_000).map { counters.row(ofUpstream: "u\($0)") }
        #expect(rows == Array(1..<1_000) + [0])
        #expect(counters.row(ofUpstream: "u7") == 7)
    }

    @Test func `connections of several loops and listeners add up, side by side`() {
        var counters = LoopCounters()
        counters.add(.client, active: 1, idle: 2)
        for _ in 0..<30 { counters.count(.accepted) }
        var other = LoopCounters()
        other.add(.client, active: 4, idle: 0)
        for _ in 0..<5 { other.count(.accepted) }
        other.add(.upstream, active: 0, idle: 7)
        let samples = MetricSample.summed(counters.samples(routes: []) + other.samples(routes: []))
        #expect(value(of: #"dictum_connections{side="client",state="active"}"#, in: samples) == "5")
        #expect(value(of: #"dictum_connections{side="client",state="idle"}"#, in: samples) == "2")
        #expect(value(of: #"dictum_connections_total{side="client"}"#, in: samples) == "35")
        #expect(value(of: #"dictum_connections{side="upstream",state="idle"}"#, in: samples) == "7")
    }

    @Test func `the text has help and type before each metric, and escapes labels`() {
        let sample = MetricSample(LoopCounters().bodyBytes.metric, ["/a\"b\\c\nd", "after"], 1 << 40)
        #expect(
            MetricSample.text([sample]) == """
                # HELP dictum_body_bytes_total Bytes of response bodies before and after coding.
                # TYPE dictum_body_bytes_total counter
                dictum_body_bytes_total{route="/a\\"b\\\\c\\nd",stage="after"} 1099511627776

                """)
    }

    @Test func `all metrics have distinct names, and counters end in total`() {
        #expect(Set(AdminStatus.allMetrics.map(\.name)).count == AdminStatus.allMetrics.count)
        for metric in AdminStatus.allMetrics {
            #expect((metric.kind == .counter) == metric.name.hasSuffix("_total"), "\(metric.name)")
            #expect(metric.help.hasSuffix("."), "\(metric.name)")
        }
    }

    @Test func `the documents list every metric with its labels, and no other`() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..")
        let text = try String(contentsOf: root.appending(path: "deploy/OPERATE.md"), encoding: .utf8)
        let listed = text.split(separator: "\n").filter {
            $0.hasPrefix("| `dictum_") || $0.hasPrefix("| `process_")
        }
        .flatMap { $0.split(separator: "|")[0].split(separator: "`").filter { $0.contains("_") } }
        let declared = AdminStatus.allMetrics.map { metric in
            metric.labels.isEmpty ? metric.name : "\(metric.name){\(metric.labels.joined(separator: ","))}"
        }
        #expect(listed.map(String.init).sorted() == declared.sorted())
    }

    @Test func `the store tells what it holds, and every reason to let go`() {
        var statistics = StoreStatistics()
        (statistics.versions, statistics.memoryBytes, statistics.diskBytes) = (3, 5, 7)
        statistics.evictions[.size] = 2
        #expect(value(of: "dictum_store_versions", in: statistics.samples) == "3")
        #expect(value(of: #"dictum_store_bytes{place="memory"}"#, in: statistics.samples) == "5")
        #expect(value(of: #"dictum_store_bytes{place="disk"}"#, in: statistics.samples) == "7")
        #expect(value(of: #"dictum_store_evictions_total{reason="size"}"#, in: statistics.samples) == "2")
        #expect(value(of: #"dictum_store_evictions_total{reason="age"}"#, in: statistics.samples) == "0")
        (statistics.packedBytes, statistics.indexBytes) = (11, 13)
        (statistics.bodyBytesWritten, statistics.bodyBytesStored) = (19, 17)
        #expect(value(of: #"dictum_store_bytes{place="packed"}"#, in: statistics.samples) == "11")
        #expect(value(of: #"dictum_store_bytes{place="index"}"#, in: statistics.samples) == "13")
        #expect(value(of: #"dictum_store_body_bytes_total{form="whole"}"#, in: statistics.samples) == "19")
        #expect(value(of: #"dictum_store_body_bytes_total{form="stored"}"#, in: statistics.samples) == "17")
        (statistics.writeErrors, statistics.setAsides) = (23, 29)
        (statistics.advertisedFound, statistics.advertisedUnknown) = (31, 37)
        statistics.standings = ["one": 41]
        for (series, expected) in [
            ("dictum_store_write_errors_total", "23"), ("dictum_store_set_asides_total", "29"),
            (#"dictum_advertised_dictionaries_total{result="found"}"#, "31"),
            (#"dictum_advertised_dictionaries_total{result="unknown"}"#, "37"),
            (#"dictum_store_versions_by_holders{holders="one"}"#, "41"),
        ] {
            #expect(value(of: series, in: statistics.samples) == expected, "\(series)")
        }
    }

    @Test func `the shared store tells its state and its traffic`() {
        var statistics = RedisStatistics()
        (statistics.bytesSent, statistics.bytesReceived) = (3, 5)
        (statistics.connections, statistics.outages, statistics.deadline) = (7, 2, 250)
        statistics.breaker = .halfOpen
        statistics.count([.null, .null, .error(RedisErrorReply(code: "STRANGE", message: "x"))])
        statistics.count(RedisFailure.timedOut, 13)
        for micros in [100, 20_000_000] { statistics.latency.add(microseconds: micros) }
        for (series, expected) in [
            (#"dictum_shared_store_commands_total{result="ok"}"#, "2"),
            (#"dictum_shared_store_commands_total{result="error"}"#, "1"),
            (#"dictum_shared_store_commands_total{result="timeout"}"#, "13"),
            (#"dictum_shared_store_errors_total{code="other"}"#, "1"),
            (#"dictum_shared_store_errors_total{code="OOM"}"#, "0"),
            (#"dictum_shared_store_bytes_total{direction="sent"}"#, "3"),
            (#"dictum_shared_store_bytes_total{direction="received"}"#, "5"),
            ("dictum_shared_store_connections_total", "7"), ("dictum_shared_store_outages_total", "2"),
            ("dictum_shared_store_deadline_seconds", "0.25"),
            (#"dictum_shared_store_state{state="half-open"}"#, "1"),
            (#"dictum_shared_store_state{state="open"}"#, "0"),
        ] {
            #expect(value(of: series, in: statistics.samples) == expected, "\(series)")
        }
        let replies = SharedStoreLatency.samples(statistics.latency)
        for (series, expected) in [
            (#"dictum_shared_store_reply_seconds_bucket{le="0.0001"}"#, "1"),
            (#"dictum_shared_store_reply_seconds_bucket{le="2.0"}"#, "1"),
            (#"dictum_shared_store_reply_seconds_bucket{le="+Inf"}"#, "2"),
            ("dictum_shared_store_reply_seconds_sum", "20.0001"),
        ] {
            #expect(value(of: series, in: replies) == expected, "\(series)")
        }
    }

    @Test func `a node tells what it looked up, fetched and wrote`() {
        var statistics = SharedStoreStatistics()
        for (result, count) in [(SharedLookUp.hit, 3), (.miss, 1)] {
            for _ in 0..<count { statistics.count(result) }
        }
        statistics.fetches[.late] = 5
        (statistics.published, statistics.alreadyThere, statistics.publishFailures, statistics.known) = (
            7, 11, 13, 17
        )
        for (series, expected) in [
            (#"dictum_shared_store_lookups_total{result="hit"}"#, "3"),
            (#"dictum_shared_store_lookups_total{result="late"}"#, "0"),
            (#"dictum_shared_store_fetches_total{result="late"}"#, "5"),
            (#"dictum_shared_store_fetches_total{result="hit"}"#, "0"),
            (#"dictum_shared_store_publications_total{result="written"}"#, "7"),
            (#"dictum_shared_store_publications_total{result="known"}"#, "11"),
            (#"dictum_shared_store_publications_total{result="failed"}"#, "13"),
            ("dictum_shared_store_known_versions", "17"),
        ] {
            #expect(value(of: series, in: statistics.samples) == expected, "\(series)")
        }
    }

    @Test func `deltas and their dictionaries tell their work, each under its own name`() {
        var statistics = DeltaStatistics()
        (statistics.cache.hits, statistics.cache.shared, statistics.cache.misses) = (2, 3, 5)
        (statistics.cache.bytes, statistics.cache.evictions) = (7, 11)
        (statistics.prepared.hits, statistics.prepared.shared) = (13, 17)
        (statistics.prepared.indexed, statistics.prepared.references) = (19, 23)
        (statistics.prepared.bytes, statistics.prepared.evictions) = (29, 31)
        (statistics.checks, statistics.failures) = (37, 41)
        for (series, expected) in [
            (#"cache_lookups_total{result="hit"}"#, 2), (#"cache_lookups_total{result="shared"}"#, 3),
            (#"cache_lookups_total{result="miss"}"#, 5), ("cache_bytes", 7), ("cache_evictions_total", 11),
        ] {
            #expect(value(of: "dictum_delta_" + series, in: statistics.samples) == "\(expected)", "\(series)")
        }
        for (series, expected) in [
            (#"uses_total{result="hit"}"#, 13), (#"uses_total{result="shared"}"#, 17),
            (#"uses_total{result="indexed"}"#, 19), (#"uses_total{result="reference"}"#, 23), ("bytes", 29),
            ("evictions_total", 31),
        ] {
            let name = "dictum_prepared_dictionary_" + series
            #expect(value(of: name, in: statistics.samples) == "\(expected)", "\(series)")
        }
        #expect(value(of: "dictum_verify_checks_total", in: statistics.samples) == "37")
        #expect(value(of: "dictum_verify_failures_total", in: statistics.samples) == "41")
    }

    @Test func `a process tells its version, start, memory and descriptors`() throws {
        let earliest = Date().timeIntervalSince1970
        let samples = ProcessStatistics(version: "1.2.3").samples
        let latest = Date().timeIntervalSince1970
        #expect(value(of: #"dictum_build_info{version="1.2.3"}"#, in: samples) == "1")
        func number(_ name: String) throws -> Double {
            try #require(samples.first { $0.metric.name == name }).value
        }
        let start = try number("process_start_time_seconds")
        #expect(start > earliest - 1 && start < latest + 1)
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let peak = try #require(
            status.firstMatch(of: /VmHWM:\s*([0-9]+) kB/).flatMap { Double($0.output.1) })
        let resident = try number("process_resident_memory_bytes")
        // Threads add up their pages a little later. What is mapped without being used is far more.
        #expect(resident > 1_000_000 && resident < 1_024 * peak + 64_000_000)
        #expect(try number("process_open_fds") > 2)
    }
}

// MARK: - The declarations of all metrics

extension AdminStatus {
    fileprivate static var allMetrics: [Metric] {
        LoopCounters().series.map(\.metric) + AdminStatus.metrics + StoreStatistics.metrics
            + DeltaStatistics.metrics + GainSampler.metrics + LearnedDictionaries.metrics
            + [ExperimentTotals.requests, ExperimentTotals.bytes, ExperimentTotals.durations]
            + SharedStoreStatistics.metrics + LogSink.metrics + ProcessStatistics.metrics
            + RedisStatistics.metrics + [SharedStoreLatency.metric]
    }
}

extension MetricSource {
    fileprivate static var metrics: [Metric] { readings.map(\.metric) }
}
