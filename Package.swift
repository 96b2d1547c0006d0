// swift-tools-version: 6.1
import PackageDescription

var settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
]
// Set by the Makefile: our own targets only, and not where a newer compiler than ours has something new to say.
if Context.environment["DATALESS_WARNINGS_AS_ERRORS"] == "1" {
  settings.append(.unsafeFlags(["-warnings-as-errors"]))
}

let system = Target.Dependency.product(name: "SystemPackage", package: "swift-system")
let collections = Target.Dependency.product(name: "Collections", package: "swift-collections")
let arguments = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let hummingbirdCore = Target.Dependency.product(name: "HummingbirdCore", package: "hummingbird")
let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let httpClient = Target.Dependency.product(name: "AsyncHTTPClient", package: "async-http-client")
let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")
let nioHTTP1 = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio")

let package = Package(
  name: "dataless",
  products: [
    .executable(name: "dataless", targets: ["dataless"]),
    .library(name: "CDataless", targets: ["CDataless"]),
    .library(name: "DatalessTesting", targets: ["DatalessTesting"]),
    .library(name: "DatalessAccess", targets: ["DatalessAccess"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
    .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
  ],
  targets: [
    .systemLibrary(name: "CFuse3", pkgConfig: "fuse3", providers: [.apt(["libfuse3-dev"])]),
    .target(name: "FuseKit", dependencies: ["CFuse3", system], swiftSettings: settings),
    .target(name: "DatalessCore", dependencies: [system, collections], swiftSettings: settings),
    .systemLibrary(name: "CDatalessLinux"),
    // Programs under test use it; `make libcdataless` builds it without Swift.
    .target(name: "CDataless", exclude: ["libcdataless.map", "cdataless.pc.in", "man"]),
    // No pkg-config file: it would link the shared library beside the archive that the module map names.
    .systemLibrary(name: "CYaml", providers: [.apt(["libyaml-dev"])]),
    .target(name: "DatalessScenario", dependencies: ["DatalessCore", "CYaml", system], swiftSettings: settings),
    .target(
      name: "DatalessStores", dependencies: ["DatalessCore", "CDatalessLinux", system], swiftSettings: settings),
    // Needs the headers of libdw-dev; the library is loaded at run time, by the process that reads callers' files.
    .target(name: "CDw"),
    // As CYaml: its module map names the archive.
    .systemLibrary(name: "CSQLite", providers: [.apt(["libsqlite3-dev"])]),
    // What a volume is kept in.
    .target(
      name: "DatalessState",
      dependencies: ["DatalessCore", "DatalessStores", "CDatalessLinux", "CSQLite", system],
      swiftSettings: settings),
    // Parsers of what callers own; no part of a request's way.
    .target(name: "DatalessStacks", dependencies: ["CDatalessLinux", "CDw"], swiftSettings: settings),
    .target(
      name: "DatalessControl",
      dependencies: ["DatalessCore", "CDatalessLinux", httpClient, nioCore, nioPosix, nioHTTP1, system],
      swiftSettings: settings),
    // What logs say, for other programs and for browsers. The page is part of the executable, which stands alone.
    .target(
      name: "DatalessReports", dependencies: ["DatalessCore", "DatalessControl", "CDatalessLinux", system],
      resources: [.embedInCode("Page/report.js"), .embedInCode("Page/report.css")], swiftSettings: settings),
    .target(
      name: "DatalessDaemon",
      dependencies: [
        "FuseKit", "DatalessCore", "DatalessStores", "DatalessState", "DatalessScenario", "DatalessControl",
        "CDataless",
        "CDatalessLinux", "DatalessStacks",
        hummingbirdCore, logging, nioCore, nioPosix, httpTypes, system, collections,
      ], swiftSettings: settings),
    .target(
      name: "DatalessCommands",
      dependencies: [
        "DatalessCore", "DatalessScenario", "DatalessControl", "DatalessDaemon", "DatalessReports", "DatalessState",
        "CDataless", arguments, system,
      ],
      swiftSettings: settings),
    .executableTarget(name: "dataless", dependencies: ["DatalessCommands", "DatalessDaemon"], swiftSettings: settings),
    // For tests of programs that use volumes; calls the executable, and has no other part of it. The script that ends
    // the volumes of a test that died is the Python library's, by a link.
    .target(name: "DatalessTesting", resources: [.embedInCode("keeper.sh")], swiftSettings: settings),
    // For programs under test: coordinated accesses.
    .target(name: "DatalessAccess", dependencies: ["CDataless"], swiftSettings: settings),
    // Seeds and generators, shared by tests.
    .target(name: "TestSupport", path: "Tests/TestSupport", swiftSettings: settings),
    .testTarget(name: "FuseKitTests", dependencies: ["FuseKit", "CFuse3", system], swiftSettings: settings),
    .testTarget(
      name: "DatalessCoreTests", dependencies: ["DatalessCore", "TestSupport", system], swiftSettings: settings),
    .testTarget(
      name: "DatalessStoresTests",
      dependencies: ["DatalessStores", "DatalessCore", "CDatalessLinux", "TestSupport", system],
      swiftSettings: settings),
    .testTarget(
      name: "DatalessStateTests",
      dependencies: ["DatalessState", "DatalessStores", "DatalessCore", "CDatalessLinux", "TestSupport", system],
      swiftSettings: settings),
    .testTarget(name: "DatalessStacksTests", dependencies: ["DatalessStacks", "TestSupport"], swiftSettings: settings),
    .testTarget(
      name: "DatalessControlTests",
      dependencies: [
        "DatalessControl", "DatalessCommands", "DatalessDaemon", "DatalessReports", "DatalessCore", arguments, system,
        "DatalessScenario", "SchemaCheck", "TestSupport",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "DatalessReportsTests",
      dependencies: ["DatalessReports", "DatalessControl", "DatalessCore", "SchemaCheck", "TestSupport", system],
      swiftSettings: settings),
    .testTarget(
      name: "DatalessDaemonTests",
      dependencies: [
        "DatalessDaemon", "DatalessControl", "DatalessCore", "DatalessStacks", "FuseKit", "CDataless", "SchemaCheck",
        "TestSupport", system,
      ],
      exclude: ["Clients"], swiftSettings: settings),
    .testTarget(
      name: "MountTests",
      dependencies: [
        "dataless", "DatalessAccess", "DatalessState", "DatalessStores", "DatalessCore", "SchemaCheck", "TestSupport",
        system,
      ],
      exclude: ["Clients"], swiftSettings: settings),
    .testTarget(
      name: "DatalessScenarioTests", dependencies: ["DatalessScenario", "DatalessCore", "TestSupport", system],
      swiftSettings: settings),
    .testTarget(name: "DatalessTestingTests", dependencies: ["DatalessTesting", "dataless"], swiftSettings: settings),
    .testTarget(name: "TidyTests", swiftSettings: settings),
    // For tests alone: holds JSON against the schemas below docs/.
    .target(name: "SchemaCheck", path: "Tests/SchemaCheck", swiftSettings: settings),
  ],
  cLanguageStandard: .c11
)
