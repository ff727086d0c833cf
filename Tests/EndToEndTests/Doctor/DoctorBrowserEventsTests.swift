internal import Foundation
internal import Glibc
internal import TestSupport
internal import Testing

/// `dictum doctor --browser` with a script in the place of Chromium, which sends events in orders that are rare.
@Suite(.timeLimit(.minutes(40))) struct DoctorBrowserEventsTests {
    /// A browser that notes the time and the parameters of each call.
    ///
    /// Of a fetch it tells the request and the head as they were on the wire, those of the cache, and of three other requests:
    /// one for another URL, the preflight of the same one, and one of the page itself, which begins behind the fetch.
    private static let script = #"""
        #!/usr/bin/python3
        import json, os, sys, time
        seen = open(os.path.dirname(sys.argv[0]) + "/seen", "a")
        url = open(os.path.dirname(sys.argv[0]) + "/url").read()

        def send(**message):
            data = json.dumps(message).encode() + b"\0"
            while data: data = data[os.write(4, data):]

        def event(method, id, **parameters):
            send(method="Network." + method, params={"requestId": id, **parameters})

        def begin(id, url, method="GET"):
            event("requestWillBeSent", id, request={"url": url, "method": method})

        def messages():
            unread = b""
            while piece := os.read(3, 65536):
                unread += piece
                while b"\0" in unread:
                    message, unread = unread.split(b"\0", 1)
                    yield json.loads(message)

        def fetch():
            event("requestWillBeSentExtraInfo", "own", headers={"Available-Dictionary": ":x:"})
            begin("own", url)
            begin("preflight", url, "OPTIONS")
            begin("other", url + "/other")
            event("responseReceivedExtraInfo", "other", statusCode=500, headers={"content-encoding": "gzip"})
            event("responseReceivedExtraInfo", "own", statusCode=200, headers={"Content-Encoding": "DCZ"})
            event("responseReceived", "own", response={"status": 203, "headers": {}})
            event("loadingFinished", "own", encodedDataLength=123.0)
            event("requestWillBeSentExtraInfo", "page", headers={})
            begin("page", url)
            event("responseReceivedExtraInfo", "page", statusCode=404, headers={"content-encoding": "br"})
            event("loadingFinished", "page", encodedDataLength=9)

        results = {
            "Target.createTarget": {"targetId": "target"}, "Target.attachToTarget": {"sessionId": "session"},
            "Runtime.evaluate": {"result": {"value": 5}},
        }
        for message in messages():
            method = message["method"]
            words = json.dumps(message["params"], sort_keys=True)
            print(time.monotonic(), method, words, file=seen, flush=True)
            if method == "Runtime.evaluate": fetch()
            if method == "Browser.close": break
            send(id=message["id"], result=results.get(method, {}))
            if method == "Page.navigate": send(method="Page.loadEventFired", params={})
        """#

    @Test func `a fetch has its own events, in whatever order, and comes a second after the last`() throws {
        let folder = try TemporaryFolder()
        let origin = try Origin(storable(feed(1), #"Use-As-Dictionary: match="/feed""#))
        let url = "\(origin.url)/feed"
        try folder.write(Array(Self.script.utf8), to: "chromium")
        try folder.write(Array(url.utf8), to: "url")
        // The text is terminated, and used during the call only.
        unsafe chmod(folder.file("chromium"), 0o700)
        let result = try RunningProcess.run(
            [
                "doctor", "--json", "--browser", "--fetches", "2", "-H", "X-A: b", "--cookie",
                "sid=a=b; theme=dark", url,
            ],
            environment: ["PATH": "\(folder.path):/usr/bin:/bin", "TMPDIR": folder.path])
        let report = try JSONDecoder().decode(Consultation.self, from: Data(result.output))
        try #require(report.browser.count == 2, "\(result.text)\(result.errors)")
        for (number, fetch) in report.browser.enumerated() {
            #expect(fetch.number == number + 1 && fetch.status == 200 && fetch.advertised, "\(result.text)")
            #expect(fetch.coding == "dcz" && fetch.wire_bytes == 123 && fetch.body_bytes == 5)
        }
        let calls = String(decoding: try #require(folder.read("seen")), as: UTF8.self).split(separator: "\n")
            .map { $0.split(separator: " ", maxSplits: 2) }
        try #require(calls.allSatisfy { $0.count == 3 })
        let methods = """
            Target.createTarget Target.attachToTarget Network.enable Page.enable Network.setCookie \
            Network.setCookie Page.navigate Runtime.evaluate Runtime.evaluate Browser.close
            """
        try #require(calls.map { String($0[1]) }.joined(separator: " ") == methods)
        #expect(calls[4][2].contains(#""name": "sid""#) && calls[4][2].contains(#""value": "a=b""#))
        #expect(calls[5][2].contains(#""name": "theme""#) && calls[5][2].contains(#""value": "dark""#))
        #expect(calls[7][2].lowercased().contains(#"[[\"x-a\",\"b\"]]"#), "\(calls[7][2])")
        let times = try calls.map { try #require(Double($0[0])) }
        #expect(times[7] - times[6] >= 1 && times[8] - times[7] >= 1, "\(times)")
    }
}
