-- What `run` wants to know of one load by wrk, as one line of JSON behind wrk's own report.
done = function(summary, latency, requests)
   local errors = summary.errors
   io.write(string.format(
      '\n{"requests": %d, "microseconds": %d, "bytes": %d, "p99": %d, "errors": %d}\n',
      summary.requests, summary.duration, summary.bytes, latency:percentile(99),
      errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
