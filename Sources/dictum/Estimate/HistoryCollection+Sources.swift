internal import ArgumentParser
internal import Dictionaries
internal import Foundation
internal import HTTP

extension HistoryCollection {
    private static let listBytesMax = 1 << 20

    static func check(_ sources: [String]) throws(ValidationError) {
        guard sources.count <= 100 else {
            throw ValidationError("expected at most 100 sources; give a list of URLs")
        }
    }

    /// Reads URLs, folders of versions, HAR files (`.har` or `.json`), and text files with a URL per line.
    ///
    /// Files come first, so that their errors come before a long poll of the URLs.
    init(
        of sources: [String], everySeconds: Int, forSeconds: Int, asksTwice: Bool, _ request: RequestOptions,
        _ progress: ProgressBar
    ) throws {
        self.init()
        var urls: [FetchURL] = []
        for source in sources {
            if source.contains("://") {
                urls.append(try FetchURL(source))
                continue
            }
            var isFolder: ObjCBool = false
            // Foundation writes the local variable during the call only.
            guard unsafe FileManager.default.fileExists(atPath: source, isDirectory: &isFolder) else {
                throw CommandError(
                    "\(source) does not exist: expected a URL with http:// or https://, a HAR file, a folder of versions, or a "
                        + "text file with one URL per line")
            }
            if isFolder.boolValue {
                try VersionFolder.read(source, secondsApart: Double(everySeconds), into: &self)
            } else if ["har", "json"].contains(URL(filePath: source).pathExtension.lowercased()) {
                try HTTPArchive(file: source).read(into: &self)
            } else {
                urls += try Self.urls(inFile: source)
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

    /// Returns the URLs of a text file, one per line; empty lines and lines that begin with # do not count.
    private static func urls(inFile path: String) throws(CommandError) -> [FetchURL] {
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
