internal import TestSupport

/// Pages whose script fetches, reads the browser's measurements of each response, and reports them to the origin.
enum BrowserPage {
    /// Returns a page that runs a script; `report(...)` in the script ends the visit unless it sets `more`.
    static func html(_ script: String, head: String = "", body: String = "") -> [UInt8] {
        Array(
            """
            <!doctype html><meta charset="utf-8"><link rel="icon" href="data:,">\(head)
            <script>\(library)
            const run = async () => { \(script) };
            addEventListener("load", () => run().catch((error) => report({error: String(error)})));
            </script>
            \(body)
            """.utf8)
    }

    /// Returns a response with a page that caches must not store.
    static func answer(_ html: [UInt8]) -> [UInt8] {
        wire("HTTP/1.1 200 OK", "Content-Type: text/html", "Cache-Control: no-store", body: html)
    }

    /// The functions of such scripts.
    static let library = #"""
        const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
        const report = (what) => fetch("/report", {method: "POST", body: JSON.stringify(what)});
        const sha256 = async (bytes) =>
            [...new Uint8Array(await crypto.subtle.digest("SHA-256", bytes))]
                .map((byte) => byte.toString(16).padStart(2, "0")).join("");
        const measured = (entry, digest) => ({
            url: entry.name, sha256: digest, coding: entry.contentEncoding || "identity",
            encodedBytes: entry.encodedBodySize, decodedBytes: entry.decodedBodySize,
            transferBytes: entry.transferSize,
        });
        // The body as it is in the cache, without asking anybody.
        const cached = async (url) =>
            sha256(await (await fetch(url, {cache: "only-if-cached", mode: "same-origin"})).arrayBuffer());
        // Whether a page like this one is to be seen again, since fewer than two have come wholly as deltas.
        const isMoreWanted = (fetches) => {
            const count = (name, more) => sessionStorage[name] = Number(sessionStorage[name] || 0) + more;
            const deltas = count("deltas", fetches.every(({coding}) => coding.startsWith("dc")) ? 1 : 0);
            return count("pages", 1) < 40 && deltas < 2;
        };
        const get = async (path, options) => {
            const url = new URL(path, location).href;
            const before = performance.getEntriesByName(url).length;
            const digest = await sha256(await (await fetch(url, options)).arrayBuffer());
            // The entry comes a moment after the body.
            while (performance.getEntriesByName(url).length === before) await pause(5);
            return measured(performance.getEntriesByName(url).at(-1), digest);
        };
        """#
}
