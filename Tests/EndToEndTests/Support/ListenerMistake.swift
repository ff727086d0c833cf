internal import TestSupport
internal import Testing

/// What `check` says of a configuration whose listener has these settings, which are wrong.
func mistakes(ofListener settings: String) throws -> String {
    let folder = try TemporaryFolder()
    let text = """
        listeners: [{address: "127.0.0.1:0", \(settings)}]
        upstream: {urls: ["http://127.0.0.1:9"]}
        """
    try folder.write(Array(text.utf8), to: "dictum.yaml")
    let result = try RunningProcess.run(["check", "--config", "dictum.yaml"], in: folder.path)
    #expect(result.status == 78)
    return result.errors
}
