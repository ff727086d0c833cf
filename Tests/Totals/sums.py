"""The comparison: each line of the access log with what its client received, and the sums of all lines with the metrics."""

import collections
import json
import re

SERIES = re.compile(r"(\w+)(?:\{(.*)\})? (\S+)")
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
# The faults of clients that are reasons of refusals, and have no request or no upstream.
FREE_TEXT = " "


class Metrics:
    """The samples of a scrape."""

    def __init__(self, text):
        self.samples = []
        for line in text.splitlines():
            if not line.startswith("#"):
                name, labels, value = SERIES.fullmatch(line).groups()
                self.samples.append((name, dict(LABEL.findall(labels or "")), float(value)))

    def by(self, name, *labels, **where):
        """The sums of a metric by labels, without those that are zero."""
        sums = collections.Counter()
        for other, have, value in self.samples:
            if other == name and all(have.get(label) == value for label, value in where.items()):
                sums[tuple(have.get(label, "") for label in labels)] += value
        return {key: value for key, value in sums.items() if value}

    def sum(self, name, **where):
        return self.by(name, **where).get((), 0)


class Comparison:
    def __init__(self):
        self.wrong, self.count = [], 0

    def equal(self, what, ours, theirs):
        self.count += 1
        if ours != theirs:
            self.wrong.append(f"{what}: {ours} and {theirs}")


def compare(lines, metrics, traffic):
    """Returns what differs, a text each, and the number of comparisons."""
    comparison = Comparison()
    lines = [json.loads(line) for line in lines]
    _compare_lines(lines, traffic, comparison)
    _compare_clients(lines, metrics, traffic, comparison)
    _compare_metrics(lines, metrics, comparison)
    return comparison.wrong, comparison.count


def _compare_lines(lines, traffic, comparison):
    """Each request with its line."""
    named = {line["request_id"]: line for line in lines if "request_id" in line and "method" in line and line["method"]}
    comparison.equal("requests in the log and of clients", sorted(named), sorted(traffic.received))
    for name, received in traffic.received.items():
        line = named.get(name)
        if line is None:
            continue
        about = f"{name} {line['method']} {line['target']} {received.protocol}"
        comparison.equal(f"{about}: protocol", line["protocol"], received.protocol)
        comparison.equal(f"{about}: whole", line["complete"], received.is_whole)
        # A client that leaves may not have read the head that was on its way.
        comparison.equal(f"{about}: status", line["status"], received.status)
        if received.is_whole:
            comparison.equal(f"{about}: coding", line["coding"], received.coding)
            comparison.equal(f"{about}: bytes of the body", line["sent_body_bytes"], received.body)
            if received.protocol != "HTTP/2.0":
                comparison.equal(f"{about}: bytes on the wire", line["wire_bytes"], received.wire)
        elif line["sent_body_bytes"] < received.body:
            comparison.wrong.append(f"{about}: {received.body} bytes received of {line['sent_body_bytes']}")


def _compare_clients(lines, metrics, traffic, comparison):
    """The sums of what clients received."""
    everything = [*traffic.received.values(), *traffic.nameless]
    whole = [received for received in everything if received.is_whole]
    comparison.equal("requests", metrics.sum("dictum_requests_total"), len(everything))
    comparison.equal("lines", len(lines), len(everything))
    classes = collections.Counter((f"{each.status // 100}xx" if each.status else "none",) for each in everything)
    comparison.equal("clients by status", metrics.by("dictum_responses_total", "status"), classes)
    deltas = sum(each.coding in ("dcb", "dcz") for each in whole)
    comparison.equal("deltas", sum(metrics.sum("dictum_requests_total", coding=coding) for coding in ("dcb", "dcz")), deltas)
    comparison.equal("cut off", metrics.sum("dictum_aborted_responses_total"), len(everything) - len(whole))
    by_coding = collections.Counter()
    for each in whole:
        by_coding[each.coding] += each.body
    # No client has these whole, so the log says what was sent of them.
    for line in lines:
        if not line["complete"]:
            by_coding[line["coding"]] += line["sent_body_bytes"]
    comparison.equal("bytes by coding", metrics.by("dictum_sent_body_bytes_total", "coding"),
                     {(coding,): count for coding, count in by_coding.items() if count})
    nameless = [line for line in lines if "protocol" not in line]
    comparison.equal("bytes of no request", sum(line["wire_bytes"] for line in nameless),
                     sum(each.wire for each in traffic.nameless))


def _compare_metrics(lines, metrics, comparison):
    """The sums of the lines with the metrics."""
    def log(value, *labels, only=lambda line: True):
        sums = collections.Counter()
        for line in lines:
            if only(line):
                sums[tuple(label(line) for label in labels)] += value(line)
        return {key: count for key, count in sums.items() if count}

    one, route = (lambda line: 1), (lambda line: line.get("route", "none"))
    coding, reason = (lambda line: line["coding"]), (lambda line: line.get("reason", "none"))
    status = lambda line: f"{line['status'] // 100}xx" if line["status"] else "none"
    upstream = lambda line: line.get("upstream_name", "")
    for name, labels, sums in [
        ("dictum_requests_total", ["route", "coding", "reason"], log(one, route, coding, reason)),
        ("dictum_responses_total", ["route", "status"], log(one, route, status)),
        ("dictum_requests_by_protocol_total", ["protocol"],
         log(one, lambda line: line["protocol"], only=lambda line: "protocol" in line)),
        ("dictum_sent_body_bytes_total", ["coding"], log(lambda line: line["sent_body_bytes"], coding)),
        ("dictum_wire_bytes_total", [], log(lambda line: line["wire_bytes"])),
        ("dictum_aborted_responses_total", [], log(one, only=lambda line: not line["complete"])),
        ("dictum_request_duration_seconds_count", ["route"], log(one, route)),
        ("dictum_request_duration_seconds_bucket", ["route"], log(one, route)),
        ("dictum_response_head_seconds_count", ["route"], log(one, route, only=lambda line: line["status"])),
        ("dictum_upstream_head_seconds_count", ["name"], log(one, upstream, only=lambda line: "upstream_micros" in line)),
        ("dictum_revalidations_total", ["result"],
         log(one, lambda line: line["revalidation"], only=lambda line: "revalidation" in line)),
        ("dictum_rejected_requests_total", ["reason"],
         log(one, lambda line: line["error"], only=lambda line: FREE_TEXT not in line.get("error", FREE_TEXT))),
    ]:
        where = {"le": "+Inf"} if name.endswith("_bucket") else {}
        comparison.equal(name, metrics.by(name, *labels, **where), sums)
    for stage, field in [("before", "body_bytes"), ("after", "sent_body_bytes")]:
        comparison.equal(f"bytes {stage}", metrics.by("dictum_body_bytes_total", "route", stage=stage),
                         log(lambda line: line[field], route))
    for name, field in [("dictum_request_duration_seconds_sum", "micros"), ("dictum_response_head_seconds_sum", "head_micros")]:
        ours = {key: round(value * 1e6) for key, value in metrics.by(name, "route").items()}
        comparison.equal(name, ours, log(lambda line: line.get(field, 0), route))
    written, lost = metrics.sum("dictum_log_lines_total"), metrics.sum("dictum_log_lines_dropped_total")
    comparison.equal("lines written", (written, lost), (len(lines), 0))
