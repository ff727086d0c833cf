// swift-tools-version: 6.2
import PackageDescription

/// What every Swift target must obey: Swift 6 mode, no warnings, imports that say what they expose.
let checks: [SwiftSetting] = [
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

/// How a release is laid out: by a profile that says how often each block of code runs, which `.ci/profile` records.
///
/// A forwarded request touches much code once, more than the first-level cache has room for; with the profile it lies closer
/// (measured: 27 % fewer lines of that cache, 4 to 5 % of the CPU of a small response). Functions of one file are known by the
/// file's name, so that the profile holds in every folder.
let layout =
    ["-Xllvm", "-static-func-full-module-prefix=false"]
    + (Context.environment["DICTUM_COUNTS_BLOCKS"] == nil
        ? ["-Xfrontend", "-ir-profile-use=\(Context.packageDirectory)/.ci/release.profdata"]
        : ["-Xfrontend", "-ir-profile-generate", "-Xllvm", "-disable-vp"])

/// The settings of the server's targets, and of the tests.
///
/// A request crosses the modules some hundred times; without the first flag small functions are calls (measured: 4 % of the
/// CPU of a small answer).
let strict = checks + [.unsafeFlags(["-cross-module-optimization"] + layout, .when(configuration: .release))]

/// The settings of the modules whose objects belong to one event loop each.
///
/// Debug builds, and so all tests, check that no two accesses to a property overlap; a release does not, because the compiler
/// cannot prove it of what changes while something unknown may run (measured: 12 % of the instructions of a forwarded request).
let confined = strict + [.unsafeFlags(["-enforce-exclusivity=unchecked"], .when(configuration: .release))]

/// The settings of what an app builds: as a dependency it must have no unsafe flags, or SwiftPM refuses it.
///
/// `make build` and packages set DICTUM_VERSION, and so have the flag here as well.
let shared = Context.environment["DICTUM_VERSION"] == nil ? checks : strict

/// The version: `make build` and packages give that of the tag, which `.ci/version` tells.
///
/// Other builds are for development.
let version: [CSetting] =
    (Context.environment["DICTUM_VERSION"]).map {
        [.define("DICTUM_VERSION", to: "\"\($0)\"")]
    } ?? []

// Apple's systems have no libzstd, so that apps build that of its own package. An app is built on macOS.
#if os(macOS)
let zstdPackage: [Package.Dependency] = [.package(url: "https://github.com/facebook/zstd", exact: "1.5.7")]
let zstd = Target.target(
    name: "CZstd", dependencies: [.product(name: "libzstd", package: "zstd")], path: "Sources/CZstd/Package")
#else
let zstdPackage: [Package.Dependency] = []
let zstd = Target.systemLibrary(name: "CZstd", pkgConfig: "libzstd")
#endif

/// The libraries that apps do without: SHA-256 is CryptoKit's there, and the only codings are those of Zstandard.
let ofServers: [Target.Dependency] = ["CBrotli", "CZlib", "CDeflate", "COpenSSL"].map {
    .target(name: $0, condition: .when(platforms: [.linux]))
}

/// A package in the version with which this one is tested, or in a newer one that an app needs for itself.
///
/// A release is built of exactly these versions.
func tried(url: String, at version: Version) -> Package.Dependency {
    Context.environment["DICTUM_VERSION"] == nil
        ? .package(url: url, from: version) : .package(url: url, exact: version)
}

let package = Package(
    name: "dictum",
    platforms: [.iOS(.v15), .macOS(.v12)],
    products: [
        .executable(name: "dictum", targets: ["dictum"]),
        .library(name: "DictumClient", targets: ["DictumClient"]),
    ],
    traits: [
        .trait(
            name: "AsyncHTTPClient",
            description: "A transport over AsyncHTTPClient for DictumClient: AsyncHTTPTransport.")
    ],
    dependencies: zstdPackage + [
        tried(url: "https://github.com/apple/swift-argument-parser", at: "1.8.2"),
        tried(url: "https://github.com/apple/swift-http-structured-headers", at: "1.7.0"),
        tried(url: "https://github.com/groue/GRDB.swift", at: "7.10.0"),
        tried(url: "https://github.com/jpsim/Yams", at: "6.2.2"),
        // With the trait AsyncHTTPClient alone.
        tried(url: "https://github.com/swift-server/async-http-client", at: "1.37.0"),
        // For `make docs` alone: no target depends on it.
        tried(url: "https://github.com/swiftlang/swift-docc-plugin", at: "1.5.0"),
    ],
    targets: [
        // C libraries: a module map and a shim of `static inline` functions each. CLinux and CVersion alone have C files.
        .target(name: "CLinux"),
        .target(name: "CVersion", cSettings: version),
        zstd,
        .systemLibrary(name: "CBrotli", pkgConfig: "libbrotlienc"),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib"),
        .systemLibrary(name: "CDeflate", pkgConfig: "libdeflate"),
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl"),
        .systemLibrary(name: "CNghttp2", pkgConfig: "libnghttp2"),

        // Values and functions over bytes, without I/O, that both HTTP and Dictionaries need.
        .target(
            name: "Primitives",
            // For the spans of arrays, which Apple's systems have only from 26 on.
            swiftSettings: shared + [.enableExperimentalFeature("Lifetimes")]),
        .target(
            name: "HTTP",
            dependencies: [
                "Primitives", "CLinux", "CNghttp2", "COpenSSL",
                .product(name: "RawStructuredFieldValues", package: "swift-http-structured-headers"),
            ],
            swiftSettings: confined),
        .target(
            name: "Dictionaries",
            dependencies: ofServers + [
                "Primitives", "CZstd",
                .product(name: "RawStructuredFieldValues", package: "swift-http-structured-headers"),
            ],
            swiftSettings: shared),
        // The server's memory of versions, on disk and shared between nodes.
        .target(
            name: "Storage",
            dependencies: [
                "Primitives", "Dictionaries",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ],
            swiftSettings: strict),
        // What a client holds, on disk. Apart from DictumClient, whose URLRequest would bring libcurl into the program.
        .target(
            name: "DictionaryFiles", dependencies: ["Primitives", "Dictionaries"], swiftSettings: shared),
        // The client of apps, which follows the rules of `Dictionaries`.
        .target(
            name: "DictumClient",
            dependencies: [
                "Primitives", "Dictionaries", "DictionaryFiles",
                .product(
                    name: "AsyncHTTPClient", package: "async-http-client",
                    condition: .when(traits: ["AsyncHTTPClient"])),
            ],
            swiftSettings: shared),
        // A client of Redis and Valkey over the transports of HTTP.
        .target(name: "Redis", dependencies: ["Primitives", "HTTP"], swiftSettings: strict),
        .target(
            name: "Proxy",
            dependencies: [
                "Primitives", "HTTP", "Dictionaries", "Storage", "Redis", "CVersion",
                .product(name: "Yams", package: "Yams"),
            ],
            // The admin page and the script for pages, which the program has inside.
            resources: [
                .embedInCode("Admin/Page/admin.html"), .embedInCode("Admin/Page/admin.css"),
                .embedInCode("Admin/Page/admin.js"), .embedInCode("Exchange/own.js"),
            ],
            swiftSettings: confined),
        .executableTarget(
            name: "dictum",
            dependencies: [
                "Primitives", "HTTP", "Dictionaries", "DictionaryFiles", "Storage", "Redis", "Proxy",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            resources: [.embedInCode("Conformance/page.html"), .embedInCode("Estimate/estimate.css")],
            swiftSettings: strict),

        // Shared test tools: an origin, a client, bodies that change.
        .target(
            name: "TestSupport",
            dependencies: ["Primitives", "CNghttp2", "Dictionaries", "Storage", "Redis"],
            path: "Tests/Support",
            swiftSettings: strict),
        // A simulated day of clients for `make bench`; not a product.
        .executableTarget(
            name: "Simulation",
            dependencies: ["Primitives", "Dictionaries", "Storage", "Proxy", "TestSupport"],
            path: "Tests/Benchmarks/Simulation",
            swiftSettings: strict),
        // The parsers with rules for every input; .ci/fuzz builds the driver with libFuzzer.
        .target(
            name: "FuzzTargets",
            dependencies: ["Primitives", "HTTP", "Dictionaries", "Storage", "Redis", "Proxy", "TestSupport"],
            path: "Tests/Fuzz/Targets", swiftSettings: strict),
        .executableTarget(
            name: "Fuzz", dependencies: ["FuzzTargets"], path: "Tests/Fuzz/Driver", swiftSettings: strict),
        .testTarget(name: "FuzzTests", dependencies: ["FuzzTargets"], swiftSettings: strict),
        .testTarget(
            name: "PrimitivesTests", dependencies: ["Primitives", "TestSupport"], swiftSettings: strict),
        .testTarget(
            name: "HTTPTests", dependencies: ["Primitives", "HTTP", "TestSupport"], swiftSettings: strict),
        .testTarget(
            name: "DictionariesTests", dependencies: ["Primitives", "Dictionaries", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "StorageTests", dependencies: ["Primitives", "Dictionaries", "Storage", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "DictumClientTests",
            dependencies: ["Primitives", "Dictionaries", "DictumClient", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "RedisTests", dependencies: ["Primitives", "HTTP", "Redis", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "ProxyTests",
            dependencies: ["Primitives", "Proxy", "HTTP", "Dictionaries", "Storage", "Redis", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "Primitives", "dictum", "HTTP", "Dictionaries", "Storage", "Proxy", "DictumClient",
                "TestSupport",
            ],
            swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6])
