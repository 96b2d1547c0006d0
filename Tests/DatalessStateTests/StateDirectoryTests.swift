import DatalessCore
@testable import DatalessState
import DatalessStores
import Glibc
import Synchronization
import SystemPackage
import TestSupport
import Testing

/// Whose a state directory is, who uses it, and what is refused.
@Suite struct StateDirectoryTests {
  @Test func anEmptyDirectoryIsMadeAndFoundAgain() throws {
    let fixture = StateFixture()
    let first = try fixture.open()
    #expect(first.wasClean && first.highestInode == 0)
    try first.close()
    let names = ["dataless-state", "lock", "catalog.sqlite", "content"]
    for name in names { #expect(fixture.scratch.exists(name)) }
    #expect(!fixture.scratch.exists("catalog.sqlite-wal"))
  }

  @Test func theNextOneFindsTheSameVolume() throws {
    let fixture = StateFixture()
    let marker = try { () throws in
      let volume = try fixture.open()
      try volume.close()
      return volume.directory.marker
    }()
    let volume = try fixture.open()
    #expect(volume.directory.marker == marker)
    #expect(volume.wasClean)
    try volume.close()
  }

  @Test func aSecondUserIsToldWhoTheFirstIs() throws {
    for use in [StateDirectory.Use.keep, .repair, .look] {
      // Each with a directory of its own: a process that closes a descriptor of the lock gives its own record lock up.
      let fixture = StateFixture()
      let volume = try fixture.open()
      let error = thrown { () throws(FSError) in _ = try fixture.directory(use) }
      #expect(error?.errno == .resourceBusy)
      #expect(error?.message.contains("process \(getpid())") == true, "\(String(describing: error))")
      try volume.close()
    }
  }

  /// As another process leaves them while it makes the directory, or ends with it.
  @Test func namesThatComeAndGoAreNoReasonToRefuseIt() async throws {
    let fixture = StateFixture()
    let (path, descriptor) = (fixture.scratch.path, fixture.scratch.openDirectory())
    defer { close(descriptor) }
    let isOver = Atomic(false)
    async let other: Void = Pthread.value {
      while !isOver.load(ordering: .relaxed) {
        for name in [StateName.newMarker, StateName.catalog + "-journal"] {
          close(open("\(path)/\(name)", O_WRONLY | O_CREAT, 0o600))
          unlink("\(path)/\(name)")
        }
      }
    }
    let files = StateFiles(directory: descriptor)
    for _ in 0..<5_000 {
      if let error = thrown({ () throws(FSError) in _ = try StateInspection.names(files, path) }) {
        Issue.record("\(error)")
        break
      }
    }
    isOver.store(true, ordering: .relaxed)
    await other
  }

  @Test func aDirectoryWithOtherThingsIsRefusedAndLeftAlone() throws {
    let fixture = StateFixture()
    fixture.scratch.write("letter.txt", [1, 2, 3])
    let error = thrown { () throws(FSError) in _ = try fixture.directory() }
    #expect(error?.errno == .directoryNotEmpty)
    #expect(error?.message.contains("letter.txt") == true)
    #expect(!fixture.scratch.exists("dataless-state") && !fixture.scratch.exists("lock"))
    #expect(thrown { () throws(FSError) in _ = try fixture.directory(.look) }?.errno == .noSuchFileOrDirectory)
  }

  @Test func theDirectoryOfAFileSystemsRootWillDo() throws {
    let fixture = StateFixture()
    mkdir(fixture.scratch.full("lost+found"), 0o700)
    try fixture.open().close()
  }

  @Test(arguments: ["catalog.sqlite", "catalog.sqlite-wal", "lock", "dataless-state", "log"])
  func nothingButPlainFilesOfOursIsOpened(name: String) throws {
    for kind in ["link", "hard", "fifo", "directory", "open"] {
      let fixture = StateFixture()
      try fixture.open().close()
      let (path, other) = (fixture.scratch.full(name), fixture.scratch.full("other"))
      if !fixture.scratch.exists(name) { fixture.scratch.write(name, []) }
      switch kind {
      case "link":
        rename(path, other)
        symlink("other", path)
      case "hard": link(path, other)
      case "fifo":
        unlink(path)
        mkfifo(path, 0o600)
      case "directory":
        unlink(path)
        mkdir(path, 0o700)
      default: chmod(path, 0o604)
      }
      for use in [StateDirectory.Use.keep, .look] {
        let error = thrown { () throws(FSError) in _ = try fixture.directory(use) }
        #expect(error?.errno == .notPermitted, "\(kind): \(String(describing: error))")
        #expect(error?.message.contains("'\(name)'") == true)
      }
    }
  }

  @Test func contentHasToBeADirectoryOfOurs() throws {
    let fixture = StateFixture()
    try fixture.open().close()
    let content = fixture.scratch.full("content")
    rename(content, fixture.scratch.full("elsewhere"))
    symlink("elsewhere", content)
    #expect(thrown { () throws(FSError) in _ = try fixture.directory() }?.errno == .notPermitted)
  }

  @Test func aDirectoryThatOthersCanWriteToIsRefused() throws {
    let fixture = StateFixture()
    chmod(fixture.scratch.path, 0o720)
    #expect(thrown { () throws(FSError) in _ = try fixture.directory() }?.errno == .notPermitted)
  }

  @Test(.enabled(if: isRoot)) func anotherUsersIsRefused() throws {
    let fixture = StateFixture()
    chown(fixture.scratch.path, 12_345, 12_345)
    let error = thrown { () throws(FSError) in _ = try fixture.directory() }
    #expect(error?.errno == .notPermitted)
    #expect(error?.message.contains("user 12345") == true)
  }

  @Test func aNewerFormatIsRefusedWithItsRemedy() throws {
    let fixture = StateFixture()
    fixture.scratch.write("dataless-state", bytes("dataless state directory\nformat 2\nvolume x\n"))
    let error = thrown { () throws(FSError) in _ = try fixture.directory() }
    #expect(error?.errno == .protocolNotSupported)
    #expect(error?.message.contains("or a newer one") == true)
    fixture.scratch.write("dataless-state", bytes("dataless"))
    #expect(thrown { () throws(FSError) in _ = try fixture.directory() }?.errno == .ioError)
  }

  @Test func aNewerCatalogIsRefusedAndNotTouched() throws {
    let fixture = StateFixture()
    try fixture.open().close()
    try StateCheckTests.edit(fixture, "PRAGMA user_version=99")
    let before = fixture.scratch.read("catalog.sqlite")
    let error = thrown { () throws(FSError) in _ = try fixture.open() }
    #expect(error?.errno == .protocolNotSupported, "\(String(describing: error))")
    #expect(fixture.scratch.read("catalog.sqlite") == before)
  }

  @Test func contentWithoutACatalogIsNoNewVolume() throws {
    let fixture = StateFixture()
    do {
      let volume = try fixture.open()
      _ = try volume.content.makeWritable(size: 3, copying: nil)
      try volume.close()
    }
    fixture.scratch.remove("catalog.sqlite")
    let error = thrown { () throws(FSError) in _ = try fixture.open() }
    #expect(error?.errno == .ioError)
    #expect(!fixture.scratch.exists("catalog.sqlite"))
  }

  @Test func whatACrashLeavesWhileItIsMadeIsMadeToTheEnd() throws {
    let fixture = StateFixture()
    _ = try fixture.directory()
    fixture.scratch.write("catalog.sqlite.new", [1, 2, 3])
    fixture.scratch.write("catalog.sqlite.new-wal", [4])
    fixture.scratch.write("dataless-state.new", [5])
    let volume = try fixture.open()
    #expect(!fixture.scratch.exists("catalog.sqlite.new"))
    #expect(!fixture.scratch.exists("catalog.sqlite.new-wal"))
    try volume.close()
  }

  @Test func anotherSourceIsRefused() throws {
    let fixture = StateFixture()
    try fixture.open(source: "/one").close()
    let error = thrown { () throws(FSError) in _ = try fixture.open(source: "/two") }
    #expect(error?.errno == .invalidArgument)
    #expect(error?.message.contains("/one") == true)
    try fixture.open(source: "/one").close()
  }

  @Test func anotherVolumesCatalogIsRefused() throws {
    let (fixture, other) = (StateFixture(), StateFixture())
    try fixture.open().close()
    try other.open().close()
    fixture.scratch.write("catalog.sqlite", other.scratch.read("catalog.sqlite"))
    #expect(thrown { () throws(FSError) in _ = try fixture.open() }?.errno == .ioError)
  }
}

extension Scratch {
  func remove(_ name: String) { unlink(full(name)) }
}
