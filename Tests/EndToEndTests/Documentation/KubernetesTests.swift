internal import Foundation
internal import TestSupport
internal import Testing

/// The manifests for Kubernetes, by its own schemas and by `dictum check`.
@Suite(.timeLimit(.minutes(40))) struct KubernetesTests {
    private static let packages = ["kubernetes-validate==1.37.0"]

    /// Validates every object strictly, and writes the Dictum configuration of each ConfigMap to a file.
    private static let script = #"""
        import sys, yaml, kubernetes_validate
        count = 0
        for document in yaml.safe_load_all(open(sys.argv[1])):
            kubernetes_validate.validate(document, "1.37", strict=True)
            count += 1
            if document["kind"] == "ConfigMap":
                open("dictum.yaml", "w").write(document["data"]["dictum.yaml"])
            if document["kind"] in ("StatefulSet", "Deployment"):
                pod = document["spec"]["template"]["spec"]
                own = [c for c in pod.get("initContainers", []) + pod["containers"] if c["name"] == "dictum"]
                for container in own:
                    ports = [port["name"] for port in container["ports"]]
                    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
                        assert container[probe]["httpGet"]["port"] in ports
                    container["resources"]["limits"]["memory"]
                print("containers", len(own))
        print("objects", count)
        """#

    @Test(arguments: [("standalone", 5), ("sidecar", 4)])
    func `a manifest fits the schemas, and the configuration in it is valid`(name: String, objects: Int)
        throws
    {
        guard let python = try PythonEnvironment.python("kubernetes", with: Self.packages) else {
            return print("skipped: PyPI is out of reach, so there are no schemas")
        }
        let folder = try TemporaryFolder()
        let manifest = try Documentation.text("deploy/kubernetes/\(name).yaml")
        try folder.write(Array(manifest.utf8), to: "manifest.yaml")
        try folder.write(Array(Self.script.utf8), to: "validate.py")
        let result = try RunningProcess.run(["validate.py", "manifest.yaml"], of: python, in: folder.path)
        #expect(
            result.status == 0 && result.text == "containers 1\nobjects \(objects)\n",
            "\(result.text)\(result.errors)"
        )
        // The folder of the store and the secret are there in a pod.
        let text = try String(contentsOfFile: "\(folder.path)/dictum.yaml", encoding: .utf8)
        let local = text.replacing("/var/lib/dictum/", with: "\(folder.path)/")
            .replacing("/etc/dictum-admin/", with: "\(folder.path)/")
        try folder.write(Array("0123456789abcdef0123456789abcdef".utf8), to: "token")
        try folder.write(Array(local.utf8), to: "dictum.yaml")
        let checked = try RunningProcess.run(["check", "--config", "dictum.yaml"], in: folder.path)
        #expect(checked.status == 0, "\(checked.errors)")
    }
}
