/// The sections of `dictum --help` and of the manual page that concern several commands.
enum CommandTopics {
    struct Topic {
        let title: String
        let rows: [(term: String, text: String)]
    }

    static let all = [
        Topic(
            title: "EXAMPLES",
            rows: [
                ("dictum demo", "Shows deltas at work on one screen."),
                ("dictum estimate https://api.example.com/feed --for 10m", "Measures what they would save."),
                ("dictum serve --upstream http://127.0.0.1:9000", "Runs the proxy without a configuration."),
                ("dictum check --config /etc/dictum/dictum.yaml", "Prints all mistakes of a configuration."),
                (
                    "dictum doctor https://api.example.com/feed",
                    "Says whether browsers get deltas, and if not, why."
                ),
                ("dictum conformance -- ./client", "Judges a client by the rules of RFC 9842."),
            ]),
        Topic(
            title: "FILES",
            rows: [
                ("/etc/dictum/dictum.yaml", "The configuration of the service."),
                ("/etc/dictum/environment", "Variables for ${NAME} in that configuration, such as secrets."),
                ("/var/lib/dictum/dictum.sqlite", "The store of the service."),
                ("./dictum.sqlite", "The store of serve --upstream."),
                ("~/.cache/dictum", "The dictionaries of fetch."),
            ]),
        Topic(
            title: "ENVIRONMENT",
            rows: [
                (
                    "DICTUM_ADMIN_TOKEN",
                    "The token of the admin listener, for report, purge and check --admin."
                ),
                ("SSL_CERT_FILE", "The certificate authorities to trust, in place of the system's."),
                ("XDG_CACHE_HOME", "The folder of caches, in place of ~/.cache."),
                ("LISTEN_FDS, NOTIFY_SOCKET", "systemd: sockets for serve, and where it reports."),
            ]),
        Topic(
            title: "SIGNALS",
            rows: [
                ("SIGTERM, SIGINT", "serve answers requests under way, then ends; twice: at once."),
                ("SIGHUP", "serve reads its configuration again; without one, as SIGTERM."),
                ("SIGUSR1", "serve opens the file of its access log again."),
                ("SIGUSR2", "serve starts its program again, and hands its sockets over."),
            ]),
        Topic(
            title: "EXIT STATUS",
            rows: [
                ("0", "Success; for serve: drained after SIGTERM or SIGINT."),
                ("1", "The command failed."),
                ("64", "Invalid usage, such as a wrong value of an option, or a certificate file of no use."),
                ("78", "Invalid configuration."),
            ]),
    ]

    /// The topics as text for a terminal of 80 columns.
    static let text = all.map(\.text).joined(separator: "\n\n")
}

extension CommandTopics.Topic {
    fileprivate var text: String {
        let width = rows.map(\.term.count).max() ?? 0
        return rows.reduce(title) { text, row in
            let gap = width < 20 ? String(repeating: " ", count: width + 2 - row.term.count) : "\n      "
            return "\(text)\n  \(row.term)\(gap)\(row.text)"
        }
    }
}
