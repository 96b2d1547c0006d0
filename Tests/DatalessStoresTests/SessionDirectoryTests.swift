import DatalessCore
@testable import DatalessStores
import Glibc
import SystemPackage
import Testing

@Suite struct SessionDirectoryTests {
  private let scratch = Scratch("session")
  private static let id = "0123456789ab"

  /// What is left in a directory of our own, the cache's lock aside.
  private func names() throws -> [String] { try scratch.filePath.names().filter { $0 != ".lock" }.sorted() }

  /// A session directory as a killed daemon leaves it: its lock file is there, and free.
  private func makeDeadSession(_ name: String) {
    scratch.makeDirectory(name)
    chmod(scratch.full(name), 0o700)
    scratch.write("\(name)/lock", "")
    scratch.makeDirectory("\(name)/content")
    scratch.write("\(name)/content/slab-0", "content")
  }

  @Test func isCreatedPrivateWithItsParents() throws {
    let cache = scratch.filePath.appending("a").appending("b")
    let session = try SessionDirectory(cache: cache, session: Self.id)
    #expect(session.path == cache.appending(Self.id))
    for name in ["a", "a/b", "a/b/\(Self.id)"] { #expect(scratch.status(name).st_mode == S_IFDIR | 0o700) }
    #expect(try FileIdentity(of: session.path) == session.identity)
    #expect(scratch.status("a/b/\(Self.id)/lock").st_mode == S_IFREG | 0o600)
    try session.removeAll()
    try session.removeAll()
    #expect(try cache.names() == [".lock"])
  }

  @Test func refusals() throws {
    for name in ["", "short", "0123456789AB", "../../../../x", "0123456789abc"] {
      let error = thrown { () throws(FSError) in _ = try SessionDirectory(cache: scratch.filePath, session: name) }
      #expect(error?.errno == .invalidArgument)
    }
    scratch.makeDirectory(Self.id)
    let error = thrown { () throws(FSError) in _ = try SessionDirectory(cache: scratch.filePath, session: Self.id) }
    #expect(error?.errno == .fileExists)
    scratch.write("file", "")
    let path = scratch.filePath.appending("file")
    #expect(
      thrown { () throws(FSError) in _ = try SessionDirectory(cache: path, session: Self.id) }?.errno == .notDirectory)
  }

  @Test func leftoversOfTheDeadAreRemovedAndTheLivingSpared() throws {
    let alive = try SessionDirectory(cache: scratch.filePath, session: "aaaaaaaaaaaa")
    makeDeadSession("bbbbbbbbbbbb")
    makeDeadSession("cccccccccccc")
    #expect(try SessionDirectory.removeStaleSessions(in: scratch.filePath) == 2)
    #expect(try names() == ["aaaaaaaaaaaa"])
    #expect(scratch.exists("aaaaaaaaaaaa/lock"))
    #expect(try SessionDirectory.removeStaleSessions(in: scratch.filePath) == 0)
    try alive.removeAll()
    #expect(try names().isEmpty)
  }

  @Test func trashOfAnInterruptedRemovalIsRemoved() throws {
    makeDeadSession("dddddddddddd")
    scratch.move("dddddddddddd", to: ".trash-dddddddddddd-17")
    #expect(try SessionDirectory.removeStaleSessions(in: scratch.filePath) == 0)
    #expect(try names().isEmpty)
  }

  @Test func aStoreThatDiesWithoutRemovingIsALeftover() throws {
    do {
      let session = try SessionDirectory(cache: scratch.filePath, session: Self.id)
      let store = try DiskContentStore(in: session)
      let writer = try store.makeWriter(size: 200_000)
      _ = try writer.commit()
    }
    #expect(try names() == [Self.id])
    #expect(try SessionDirectory.removeStaleSessions(in: scratch.filePath) == 1)
    #expect(try names().isEmpty)
  }

  /// --cache-dir may name a directory that holds other things, some of which look alike.
  @Test func nothingElseIsTouched() throws {
    scratch.makeDirectory("outside")
    scratch.write("outside/lock", "precious")
    scratch.makeSymlink("111111111111", to: "outside")
    scratch.write("222222222222", "a file")
    scratch.makeDirectory("333333333333")
    chmod(scratch.full("333333333333"), 0o755)
    scratch.write("333333333333/lock", "of somebody else")
    scratch.makeDirectory("444444444444")
    chmod(scratch.full("444444444444"), 0o700)
    scratch.write("444444444444/photo.jpg", "no lock file beside it")
    scratch.makeDirectory("documents")
    scratch.makeDirectory(".trash-")
    #expect(try SessionDirectory.removeStaleSessions(in: scratch.filePath) == 0)
    #expect(
      try names() == [
        ".trash-", "111111111111", "222222222222", "333333333333", "444444444444", "documents", "outside",
      ])
    #expect(scratch.exists("outside/lock"))
    #expect(scratch.exists("444444444444/photo.jpg"))
  }

  @Test func killedBeforeItsLockWasMade() throws {
    scratch.makeDirectory("555555555555")
    chmod(scratch.full("555555555555"), 0o700)
    #expect(try SessionDirectory.removeStaleSessions(in: scratch.filePath) == 1)
    #expect(try names().isEmpty)
  }

  @Test func missingCacheHasNoLeftovers() throws {
    #expect(try SessionDirectory.removeStaleSessions(in: scratch.filePath.appending("none")) == 0)
  }

  @Test func concurrentStartsAndSweepsNeverMeet() throws {
    let cache = scratch.filePath
    let sweeper = Repeater { _ = try? SessionDirectory.removeStaleSessions(in: cache) }
    defer { sweeper.stop() }
    for index in 0..<50 {
      let digits = String(0x1000_0000_0000 + index, radix: 16).suffix(12)
      let session = try SessionDirectory(cache: cache, session: String(digits))
      #expect(try FileIdentity(of: session.path) == session.identity)
      try session.removeAll()
    }
  }
}
