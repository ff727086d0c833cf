internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import dictum

/// A page in a real Chromium, read and changed by scripts over the DevTools protocol; ends with this object.
final class PageInspector {
    /// A message of the browser about the page.
    struct Message: CustomStringConvertible {
        let method: String
        let text: String
        var description: String { "\(method): \(text)" }
    }

    private let server: AnyObject
    private let home: TemporaryFolder
    private let pipe: DevToolsPipe
    private let session: String
    private let deadline = FetchDeadline(seconds: 600)
    /// The URLs that the page has requested.
    private(set) var requests: [String] = []
    private var messages: [Message] = []

    /// Opens a page; names below `test` stand for this machine.
    ///
    /// - Parameter server: lives as long as the page.
    init(_ url: String, of server: AnyObject, width: Int = 1280, isDark: Bool = false) throws {
        self.server = server
        home = try TemporaryFolder()
        let program = try #require(Chromium.program)
        pipe = try DevToolsPipe(
            program,
            arguments: [
                "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu",
                "--disable-dev-shm-usage", "--no-first-run", "--no-default-browser-check",
                "--disable-background-networking", "--disable-component-update", "--disable-sync",
                "--no-proxy-server", "--host-resolver-rules=MAP *.test 127.0.0.1",
                "--user-data-dir=\(home.path)/profile", "about:blank",
            ])
        let target = try pipe.call("Target.createTarget", ["url": "about:blank"], until: deadline)
        let attached = try pipe.call(
            "Target.attachToTarget", ["targetId": target["targetId"] ?? "", "flatten": true], until: deadline)
        session = try #require(attached["sessionId"] as? String)
        for domain in ["Network", "Page", "Runtime", "Log"] { try call("\(domain).enable") }
        try show(width: width, isDark: isDark)
        try call("Page.navigate", ["url": url])
    }

    @discardableResult
    private func call(_ method: String, _ parameters: [String: Any] = [:]) throws -> [String: Any] {
        try pipe.call(method, parameters, session: session, until: deadline)
    }

    /// Sets the width of the window and the colours that the user prefers.
    func show(width: Int, isDark: Bool) throws {
        try call(
            "Emulation.setDeviceMetricsOverride",
            ["width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600])
        try call(
            "Emulation.setEmulatedMedia",
            ["features": [["name": "prefers-color-scheme", "value": isDark ? "dark" : "light"]]])
    }

    /// Returns the value of an expression, after the promise that it may be.
    @discardableResult
    func value(_ expression: String) throws -> Any? {
        let evaluated = try call(
            "Runtime.evaluate",
            ["expression": expression, "awaitPromise": true, "returnByValue": true, "userGesture": true])
        let result = evaluated["result"] as? [String: Any]
        try #require(
            evaluated["exceptionDetails"] == nil, "\(expression): \(result?["description"] ?? "failed")")
        return result?["value"]
    }

    func text(_ expression: String) throws -> String { try #require(try value(expression) as? String) }

    /// Returns the text of the elements that a selector finds.
    func texts(_ selector: String) throws -> [String] {
        let found = try value(
            "[...document.querySelectorAll(\"\(selector)\")].map((node) => node.innerText.trim())")
        return try #require(found as? [String])
    }

    /// Waits until an expression is true.
    func until(_ what: String, _ expression: String) throws {
        // Before the page is loaded, its elements and functions are missing.
        let script = "(() => { try { return Boolean(\(expression)) } catch { return false } })()"
        try waitUntil(what) {
            do {
                return try value(script) as? Bool == true
            } catch let error as CommandError where "\(error)".contains("navigated") {
                // The page is left while it is asked.
                return false
            }
        }
    }

    /// Presses Enter.
    func pressEnter() throws {
        for type in ["keyDown", "keyUp"] {
            try call(
                "Input.dispatchKeyEvent",
                ["type": type, "key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13, "text": "\r"])
        }
    }

    /// Writes a picture of the whole page.
    func takePicture(_ file: String) throws {
        let shot = try call("Page.captureScreenshot", ["captureBeyondViewport": true])
        let data = Data(base64Encoded: shot["data"] as? String ?? "") ?? Data()
        try data.write(to: URL(filePath: file))
    }

    // MARK: Events

    /// The errors so far: exceptions, refusals of the page's policy, and what scripts logged as an error.
    func errors() throws -> [Message] {
        try takeEvents()
        return messages
    }

    private func takeEvents() throws {
        // A reply comes after the events before it.
        try value("0")
        while let event = try pipe.nextEvent(until: FetchDeadline(seconds: 0)) {
            switch event.method {
            case "Network.requestWillBeSent":
                let request = event.parameters["request"] as? [String: Any]
                requests.append(request?["url"] as? String ?? "")
            case "Runtime.exceptionThrown":
                messages.append(Message(method: event.method, text: "\(event.parameters)"))
            case "Log.entryAdded":
                let entry = event.parameters["entry"] as? [String: Any] ?? [:]
                // A path that is not there yet is no error of the page.
                guard entry["source"] as? String != "network" else { continue }
                messages.append(Message(method: event.method, text: entry["text"] as? String ?? ""))
            default: continue
            }
        }
    }
}
