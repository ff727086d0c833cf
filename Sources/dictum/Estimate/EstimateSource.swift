internal import ArgumentParser
internal import Dictionaries
internal import Foundation
internal import HTTP

/// An input of `dictum estimate`, told apart by its form.
enum EstimateSource {
    case url(FetchURL)
    case folder(String)
    case archive(String)
    case list(String)

    private static let listBytesMax = 1 << 20

    /// Recognises a URL, a folder, a HAR file (`.har` or `.json`), or a text file with a URL per line.
    init(_ text: String) throws {
        if text.contains("://") {
            self = .url(try FetchURL(text))
            return
        }
        var isFolder: ObjCBool = false
        // Foundation writes the local variable during the call only.
        guard unsafe FileManager.default.fileExists(atPath: text, isDirectory: &isFolder) else {
            throw CommandError(
                "\(text) does not exist: expected a URL with http:// or https://, a HAR file, a folder of versions, or a "
                    + "text file with one URL per line")
        }
        if isFolder.boolValue {
            self = .folder(text)
        } else if ["har", "json"].contains(URL(filePath: text).pathExtension.lowercased()) {
            self = .archive(text)
        } else {
            self = .list(text)
        }
    }

    /// Returns the URLs of a text file, one per line; empty lines and lines that begin with # do not count.
    static func urls(inFile path: String) throws(CommandError) -> [FetchURL] {
        let data = try InputFile.read(
            path, max: listBytesMax, advice: ": expected a text file with one URL per line")
        guard let text = String(validating: data, as: UTF8.self) else {
            throw CommandError("\(path) is not UTF-8: expected a text file with one URL per line")
        }
        var urls: [FetchURL] = []
        for (number, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
            .enumerated()
        {
            let line = line.trimmingCharacters(in: .whitespaces)
            guard !line.isEmpty, !line.hasPrefix("#") else { continue }
            do throws(FetchError) {
                urls.append(try FetchURL(line))
            } catch {
                throw CommandError("\(path):\(number + 1): \(error)")
            }
        }
        guard !urls.isEmpty else { throw CommandError("\(path) has no URLs: expected one per line") }
        return urls
    }
}

extension HistoryCollection {
    static func check(_ sources: [String]) throws(ValidationError) {
        guard sources.count <= 100 else {
            throw ValidationError("expected at most 100 sources; give a list of URLs")
        }
    }

    /// Reads sources; files first, so that their errors come before a long poll of the URLs.
    init(
        of sources: [String], everySeconds: Int, forSeconds: Int, asksTwice: Bool, _ request: RequestOptions,
        _ progress: ProgressBar
    ) throws {
        self.init()
        var urls: [FetchURL] = []
        for source in sources {
            switch try EstimateSource(source) {
            case .url(let url): urls.append(url)
            case .list(let path): urls += try EstimateSource.urls(inFile: path)
            case .folder(let path):
                try VersionFolder.read(path, secondsApart: Double(everySeconds), into: &self)
            case .archive(let path): try HTTPArchive(file: path).read(into: &self)
            }
        }
        guard urls.count <= Self.resourcesMax else {
            throw CommandError("there are \(urls.count) URLs: expected at most \(Self.resourcesMax)")
        }
        guard !urls.isEmpty else { return }
        var plan = Poller.Plan(
            urls: urls, everySeconds: everySeconds, forSeconds: forSeconds, asksTwice: asksTwice)
        plan.fields = try request.fields()
        // The first signal ends the polling, and only that: what follows takes minutes, and has nothing to save.
        Signals.block()
        defer { Signals.unblock() }
        var poller = try Poller(plan, request: request, progress: progress)
        try poller.run(into: &self)
    }
}

/// Reads versions from a folder: files, or folders of files, each folder one resource.
enum VersionFolder {
    /// Adds all versions; consecutive files are `seconds` apart.
    static func read(
        _ folder: String, secondsApart: Double, into collection: inout HistoryCollection
    ) throws(CommandError) {
        guard let entries = DemoVersions.entries(of: folder) else {
            throw CommandError(
                "cannot read the folder \(folder): expected a folder with one file per version")
        }
        // A file beside folders, such as a README, is no version.
        let folders = entries.filter { $0.type == .typeDirectory }.map(\.path)
        for path in folders { try readFiles(of: path, secondsApart, into: &collection) }
        if folders.isEmpty { try readFiles(of: folder, secondsApart, isFlat: true, into: &collection) }
    }

    private static func readFiles(
        of folder: String, _ secondsApart: Double, isFlat: Bool = false,
        into collection: inout HistoryCollection
    ) throws(CommandError) {
        let paths = try DemoVersions.paths(in: folder)
        let name = URL(filePath: folder).standardizedFileURL.lastPathComponent
        let path = "/" + (name.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? "feed")
        guard let url = try? FetchURL("http://folder.invalid\(path)") else {
            throw CommandError("\(folder): the name of the folder is too long for a path")
        }
        for (number, file) in paths.enumerated() {
            guard number < HistoryCollection.versionsMax else {
                collection.warn("\(folder): left out files after the first \(HistoryCollection.versionsMax)")
                break
            }
            let response = ResourceHistory.Response(
                seconds: Double(number) * secondsApart, body: Body(try DemoVersions.contents(of: file)),
                headers: nil)
            collection.add(response, to: folder) {
                var history = ResourceHistory(url: url, name: name)
                history.isReal = false
                history.isFlatFolder = isFlat
                history.mediaType = DemoVersions.mediaType(ofFile: file)
                return history
            }
        }
    }
}
