internal import HTTP

extension Settings {
    static let tls: [Setting<Configuration.TLS>] = [
        .value(
            "certificate", \.certificate, .pathOrNone, example: "/etc/dictum/tls/fullchain.pem",
            "The certificate in PEM, and those that lead from it to the root behind it."),
        .value(
            "private_key", \.privateKey, .pathOrNone, example: "/etc/dictum/tls/privkey.pem",
            "The key of the certificate in PEM, without a passphrase."),
        .value(
            "ocsp", \.ocsp, .pathOrNone, example: "/etc/dictum/tls/ocsp.der",
            "An OCSP response in DER, which clients get with the certificate."),
        .list(
            "certificates", \.certificates, certificate, fresh: Configuration.TLS.Certificate(), countMax: 64,
            """
            Further certificates: a client gets the first that has the name it asks for, else one whose wildcard fits, \
            else the first of all.
            """),
        .value(
            "min_version", \.minVersion, .choice(["1.2": .tls12, "1.3": .tls13]),
            "The oldest version of TLS that is spoken."),
        .value(
            "client_ca", \.clientAuthority, .pathOrNone, example: "/etc/dictum/tls/client-ca.pem",
            "The authorities whose certificates clients may show, in PEM; without it they are not asked."),
        .value(
            "client_auth", \.clientAuthentication, .choice(["required": .required, "optional": .optional]),
            "With client_ca: whether a client without a certificate is let in."),
        .value(
            "client_subject_field", \.clientSubjectField, .fieldNameOrNone, example: "x-client-subject",
            """
            The request field with the subject of the client's certificate (RFC 4514) for the upstream; taken from \
            every request that brings it along.
            """),
        .value(
            "early_data", \.takesEarlyData, .flag,
            """
            Answers GET, HEAD and OPTIONS that come with the first bytes of a resumed TLS 1.3 session (0-RTT). Only for \
            upstreams that know Early-Data and answer 425 where a request must not come twice (RFC 8470).
            """),
    ]

    static let certificate: [Setting<Configuration.TLS.Certificate>] = [
        .value("certificate", \.certificate, .path, required: true, "As above."),
        .value("private_key", \.privateKey, .path, required: true, "As above."),
        .value("ocsp", \.ocsp, .pathOrNone, example: "", "As above."),
    ]
}
