internal import Dictionaries
internal import Primitives

/// The rules for fields: no input traps, and a written value parses to the same value.
enum FieldRules {
    static func check(_ bytes: [UInt8]) throws(BrokenRule) {
        let lines = bytes.split(separator: UInt8(ascii: "\n"), maxSplits: 3).map {
            String(decoding: $0, as: UTF8.self)
        }
        try checkDictionaryFields(lines)
        try checkLists(lines)
        for line in lines {
            if let tag = EntityTag(line) {
                try require(EntityTag(tag.serialized) == tag, "an entity tag reads as written")
                try require(
                    EntityTag.parseList([tag.serialized]).weakMatches(tag),
                    "a list of one tag holds that tag")
            }
            if let date = HTTPDate.unixSeconds(line, now: 1_000_000_000) {
                let written = HTTPDate.bytes(unixSeconds: date)
                try require(HTTPDate.unixSeconds(written.span, now: 0) == date, "a date reads as written")
            }
            try checkPath(line)
            if let digest = Digest(base64URL: line) {
                try require(Digest(base64URL: digest.base64URL) == digest, "a digest reads as written")
            }
        }
    }

    private static func checkPath(_ path: String) throws(BrokenRule) {
        let readings = PathReadings(path)
        try require(
            PathReadings.routed(readings.routed) == readings.routed,
            "the routed path of a routed path is itself")
        guard path.utf8.first == UInt8(ascii: "/") else { return }
        try require(
            readings.hidesSegments || NormalPath.isNormal(readings.routed),
            "a routed path without hidden segments is in normal form")
        for lenient in readings.lenient {
            // One that only resolves dots before slashes are merged keeps encoded slashes.
            try require(
                readings.hidesSegments || NormalPath.isNormal(lenient), "a lenient reading is in normal form"
            )
        }
        guard NormalPath.form(of: path) == .plain else { return }
        try require(
            readings == PathReadings(readings.routed) && readings.routed == path && readings.lenient.isEmpty
                && readings.unresolved.isEmpty && !readings.hidesSegments, "a plain path has one reading")
    }

    private static func checkDictionaryFields(_ lines: [String]) throws(BrokenRule) {
        if let offer = UseAsDictionary.parse(lines) {
            try require(
                UseAsDictionary.parse([offer.serialized]) == offer, "Use-As-Dictionary reads as written")
        }
        if let digest = AvailableDictionary.parse(lines) {
            try require(
                AvailableDictionary.parse([":\(digest.base64):"]) == digest,
                "Available-Dictionary reads as written")
        }
        _ = DictionaryID.parse(lines)
        for target in LinkField.dictionaryTargets(lines) {
            try require(!target.contains(">"), "the target of a Link ends at the first >")
        }
    }

    private static func checkLists(_ lines: [String]) throws(BrokenRule) {
        let accepted = AcceptEncoding(lines)
        for coding in ContentCoding.allCases {
            try require((0...1000).contains(accepted.quality(of: coding)), "a weight is one")
        }
        _ = CacheControl(lines)
        _ = CacheControl.isWellFormed(lines.first ?? "")
        _ = EntityTag.parseList(lines)
        let vary = Vary.merged(lines, adding: ["Accept-Encoding"])
        try require(
            Vary.merged([vary], adding: ["Accept-Encoding"]) == vary, "what Vary has is not added again")
        let dates = Array(lines.prefix(1))
        let freshness = Freshness(
            cacheControl: CacheControl(lines), age: lines, date: dates, expires: Array(lines.suffix(1)),
            lastModified: dates, receivedAt: 1_000_000_000)
        try require(
            freshness.initialAgeSeconds >= 0 && freshness.lifetimeSeconds >= 0,
            "no age and no lifetime is negative")
        _ = freshness.remainingSeconds(at: 2_000_000_000)
    }
}
