internal import Dictionaries
internal import HTTP

/// The admin page: one document, made once of the files in `Page/`.
///
/// Browsers run and apply only the script and the style sheet whose hashes the policy names, load nothing from
/// elsewhere, and let no script write HTML.
enum AdminPage {
    static let response = {
        let style = text(PackageResources.admin_css)
        let script = text(PackageResources.admin_js)
        let document = text(PackageResources.admin_html)
            .replacing(#"<link rel="stylesheet" href="admin.css">"#, with: "<style>\(style)</style>")
            .replacing(#"<script src="admin.js"></script>"#, with: "<script>\(script)</script>")
        return AdminResponse(
            .ok, document, contentType: "text/html; charset=utf-8",
            fields: [(.contentSecurityPolicy, policy(style: style, script: script))] + otherFields)
    }()

    private static let otherFields: [(name: HeaderName, value: String)] = [
        ("referrer-policy", "no-referrer"), ("cross-origin-opener-policy", "same-origin"),
    ].compactMap { name, value in HeaderName(name).map { ($0, value) } }

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    private static func policy(style: String, script: String) -> String {
        """
        default-src 'none'; connect-src 'self'; img-src data:; style-src '\(hash(style))'; \
        script-src '\(hash(script))'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
        require-trusted-types-for 'script'; trusted-types 'none'
        """
    }

    private static func hash(_ text: String) -> String {
        "sha256-" + Digest(of: Array(text.utf8).span).base64
    }
}
