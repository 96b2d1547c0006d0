// swift-tools-version: 6.1
import PackageDescription

// A project with tests on dataless files. Its own would name the repository instead:
//
//     .package(url: "https://example.org/dataless", from: "0.1.0")
let package = Package(
  name: "filemanager-example",
  dependencies: [.package(name: "dataless", path: "../../..")],
  targets: [
    .testTarget(
      name: "FileManagerTests", dependencies: [.product(name: "DatalessTesting", package: "dataless")])
  ]
)
