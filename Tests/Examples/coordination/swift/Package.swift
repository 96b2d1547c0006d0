// swift-tools-version: 6.1
import PackageDescription

// A program that uses coordinated accesses. One of its own would name the repository instead:
//
//     .package(url: "https://example.org/dataless", from: "0.1.0")
let package = Package(
  name: "photos-example",
  dependencies: [.package(name: "dataless", path: "../../../..")],
  targets: [
    .executableTarget(
      name: "photos", dependencies: [.product(name: "DatalessAccess", package: "dataless")],
      swiftSettings: [.swiftLanguageMode(.v6)])
  ]
)
