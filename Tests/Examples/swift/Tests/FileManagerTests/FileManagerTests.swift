import DatalessTesting
import Foundation
import Testing
import XCTest

/// The program under test.
let example = "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/") + "/filemanager"
let fileManager = ProcessInfo.processInfo.environment["FILE_MANAGER"] ?? example + "/mended.py"

/// A file manager shows photos: it may read them, and nothing else, and its window must not wait for any.
@Suite struct FileManagerTests {
  @Test(.datalessVolume(.folder(example + "/fixtures"), scenario: example + "/expected.yaml"))
  func readsPhotosAloneAndNotInTheMainThread() async throws {
    let volume = try DatalessVolume.current
    try await volume.run(fileManager, "{}", timeout: .seconds(20))
    #expect(try await volume.materialized() == ["photos/a.jpg", "photos/b.jpg"])
  }

  // The same in the test's own words, on files that are made for it.
  @Test(
    .datalessVolume(
      ["photos/a.jpg": 48000, "photos/b.jpg": 48000, "photos/notes.txt": "not for the eye\n"],
      latency: .milliseconds(200), maxFiles: 2,
      expect: [["name": "window", "match": ["kind": "file"], "max_main_thread": "1ms"]]))
  func doesAsLittleAsItCan() async throws {
    try await DatalessVolume.current.run(fileManager, "{}", timeout: .seconds(20))
  }

  @Test func showsNamesWhilePhotosAreOnTheirWay() async throws {
    try await withDatalessVolume(.folder(example + "/fixtures"), scenario: example + "/held.yaml") { volume in
      let manager = try await volume.start(fileManager, "{}")
      try await volume.gate("photos").callers(1)
      let waiting = try await volume.stacks().filter(\.isMainThread)
      #expect(waiting.isEmpty, "\(waiting.map(\.description))")
      try await volume.gate("photos").open()
      #expect(try await manager.wait(timeout: .seconds(20)).output.hasPrefix("a.jpg 4500 photo\n"))
    }
  }
}

final class OfflineTests: XCTestCase {
  func testShowsNamesWithoutANetwork() async throws {
    let volume = try await datalessVolume(.folder(example + "/fixtures"))
    try await volume.run("find", "{}")  // somebody has been here before: the names are known
    try await volume.offline()
    let shown = try await volume.run(fileManager, "{}", timeout: .seconds(20), check: false).output
    XCTAssertEqual(shown.split(separator: "\n").map { $0.prefix { $0 != " " } }, ["a.jpg", "b.jpg", "notes.txt"])
  }
}
