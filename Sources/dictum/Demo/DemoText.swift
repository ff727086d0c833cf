/// The demo's texts around its table.
enum DemoText {
    static func introduction(proxy: String) -> String {
        """
        Dictum listens on \(proxy), in front of an API whose response changes a little each time.
        A client fetches it repeatedly. The first response is compressed as usual, and the client keeps it.
        From then on, it names the body it holds and gets only the difference: dcz, Zstandard over a dictionary (RFC 9842).

        """
    }

    /// The commands to try while the demo keeps running; each can be pasted as it is.
    static func nextSteps(feed: String, program: String) -> String {
        """

        The demo keeps running, and the feed changes every 5 seconds. Try it from another terminal:

        # 1. Fetch the feed, and keep its body and the id of the dictionary
        curl -s \(feed) -o dictum-old.json -D dictum-head.txt
        id=$(grep -o 'id="[^"]*"' dictum-head.txt | cut -d '"' -f 2)

        # 2. After 5 seconds, send the digest of the body and the id: only the difference comes back
        curl -s \(feed) -o dictum-delta.dcz -H 'Accept-Encoding: dcz' -H "Dictionary-ID: \\"$id\\"" \
        -H "Available-Dictionary: :$(openssl dgst -sha256 -binary dictum-old.json | base64):"

        # 3. Build the new feed from the old one and the difference
        zstd -q -d -D dictum-old.json < dictum-delta.dcz > dictum-new.json
        wc -c dictum-old.json dictum-delta.dcz dictum-new.json

        # A client that does all of this: run it twice
        \(program) fetch \(feed) -o dictum-new.json

        Ctrl-C ends the demo. Then put Dictum in front of your own API:

        \(program) serve --upstream http://your-api
        """
    }
}
