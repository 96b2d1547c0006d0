// swift-tools-version: 6.1
import PackageDescription

let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
]

let system = Target.Dependency.product(name: "SystemPackage", package: "swift-system")
let collections = Target.Dependency.product(name: "Collections", package: "swift-collections")

let package = Package(
  name: "dataless",
  dependencies: [
    .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
    .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
  ],
  targets: [
    .target(name: "DatalessCore", dependencies: [system, collections], swiftSettings: settings),
    .testTarget(name: "DatalessCoreTests", dependencies: ["DatalessCore", system], swiftSettings: settings),
  ]
)
