/// The demo's texts around its table.
enum DemoText {
    static func introduction(proxy: String) -> String {
        """
        Dictum listens on \(proxy), before an API whose answer changes a little each time.
        A client fetches it again and again. The first answer comes compressed as usual, and the client keeps it.
        From then on it names what it holds and gets only the difference: dcz, Zstandard over a dictionary (RFC 9842).

        """
    }

    /// The commands to try while the demo keeps running; each can be pasted as it is.
    static func nextSteps(feed: String, program: String) -> String {
        """

        It keeps running, and the feed changes every 5 seconds. Try it from another terminal:

        # 1. Fetch the feed, and keep it with the id that it comes with
        curl -s \(feed) -o dictum-old.json -D dictum-head.txt
        id=$(grep -o 'id="[^"]*"' dictum-head.txt | cut -d '"' -f 2)

        # 2. Later, name what you hold and send the id back: only the difference comes
        curl -s \(feed) -o dictum-delta.dcz -H 'Accept-Encoding: dcz' -H "Dictionary-ID: \\"$id\\"" \
        -H "Available-Dictionary: :$(openssl dgst -sha256 -binary dictum-old.json | base64):"

        # 3. Make the new feed of the old one and the difference
        zstd -q -d -D dictum-old.json < dictum-delta.dcz > dictum-new.json
        wc -c dictum-old.json dictum-delta.dcz dictum-new.json

        # A client that does all this by itself: run it twice
        \(program) fetch \(feed) -o dictum-new.json

        Ctrl-C ends the demo. Then put Dictum before your own API:

        \(program) serve --upstream http://your-api
        """
    }
}
