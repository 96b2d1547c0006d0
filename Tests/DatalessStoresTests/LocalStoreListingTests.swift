import DatalessCore
import DatalessStores
import Glibc
import SystemPackage
import Testing

@Suite struct LocalStoreListingTests {
  private let scratch = Scratch("listing")

  private func open(_ excluded: [FileIdentity] = []) throws -> LocalStore {
    try LocalStore(source: scratch.filePath, excluded: excluded)
  }

  @Test func emptyDirectory() throws {
    let store = try open()
    #expect(try store.entries(store.rootItem).isEmpty)
  }

  @Test func attributesAreThoseOfLstat() throws {
    scratch.write("f", "content")
    scratch.setTimes("f", access: 1_000_000_001, modification: -5)
    scratch.makeDirectory("d")
    scratch.makeSymlink("l", to: "nowhere/at/all")
    #expect(link(scratch.full("f"), scratch.full("g")) == 0)
    #expect(mkfifo(scratch.full("p"), 0o640) == 0)
    let store = try open()
    #expect(store.root.inode == UInt64(scratch.status("").st_ino))
    for entry in try store.entries(store.rootItem) {
      let expected = scratch.status(String(decoding: entry.name, as: UTF8.self))
      let found = entry.attributes
      #expect(found.device == UInt64(expected.st_dev))
      #expect(found.inode == UInt64(expected.st_ino))
      #expect(found.mode == expected.st_mode)
      #expect(found.linkCount == UInt32(expected.st_nlink))
      #expect(found.uid == expected.st_uid && found.gid == expected.st_gid)
      #expect(found.size == Int64(expected.st_size))
      #expect(found.blocks == Int64(expected.st_blocks))
      #expect(found.modificationTime == time(expected.st_mtim))
      #expect(found.changeTime == time(expected.st_ctim))
      #expect(found.accessTime == time(expected.st_atim))
    }
    #expect(try store.item("f")?.attributes.inode == store.item("g")?.attributes.inode)
    #expect(try store.item("f")?.attributes.linkCount == 2)
    #expect(try store.item("p")?.attributes.kind == .fifo)
  }

  private func time(_ time: timespec) -> Timestamp {
    Timestamp(seconds: Int64(time.tv_sec), nanoseconds: UInt32(time.tv_nsec))
  }

  @Test func namesAreBytes() throws {
    let names: [[UInt8]] = [
      [0xff, 0xfe, 0x01], Array(repeating: 0xe4, count: 255), [0x0a, 0x1b, 0x5b], Array("...".utf8), Array(" ".utf8),
    ]
    for (index, name) in names.enumerated() {
      let path = Array(scratch.path.utf8) + [UInt8(ascii: "/")] + name + [0]
      let file = path.withUnsafeBufferPointer { buffer in
        buffer.withMemoryRebound(to: CChar.self) { Glibc.open($0.baseAddress!, O_CREAT | O_WRONLY, 0o644) }
      }
      #expect(file >= 0)
      #expect(Glibc.write(file, [UInt8(index)], 1) == 1)
      close(file)
    }
    let store = try open()
    let entries = try store.entries(store.rootItem)
    #expect(Set(entries.map(\.name)) == Set(names))
    for entry in entries {
      let index = try #require(names.firstIndex(of: entry.name))
      #expect(try store.content(store.child(entry, of: store.rootItem)) == [UInt8(index)])
    }
  }

  @Test func hundredThousandEntriesInBatches() throws {
    for index in 0..<100_000 {
      // A hard link costs less than a file; the directory is what counts.
      if index % 1000 == 0 {
        scratch.write("file-\(index)", "x")
      } else if link(scratch.full("file-\(index / 1000 * 1000)"), scratch.full("link-\(index)")) != 0 {
        fatalError("link: errno \(errno)")
      }
    }
    let store = try open()
    var batches: [Int] = []
    var names: Set<[UInt8]> = []
    try store.list(store.rootItem) { (batch) throws(FSError) in
      batches.append(batch.count)
      names.formUnion((0..<batch.count).map { batch[$0].name })
    }
    #expect(names.count == 100_000)
    #expect(batches.allSatisfy { $0 >= 1 && $0 <= 4096 })
  }

  @Test func sinkEndsTheListing() throws {
    scratch.write("f", "x")
    let store = try open()
    let error = thrown { () throws(FSError) in
      try store.list(store.rootItem) { (_) throws(FSError) in throw FSError(.interrupted, "abandoned") }
    }
    #expect(error == FSError(.interrupted, "abandoned"))
  }

  @Test func excludedDirectoryIsLeftOut() throws {
    scratch.makeDirectory("cache")
    scratch.makeDirectory("other")
    let identity = try FileIdentity(of: scratch.filePath.appending("cache"))
    let store = try open([identity])
    #expect(try store.entries(store.rootItem).map(\.name) == [Array("other".utf8)])
  }

  /// A directory that may be read but not searched: names without metadata.
  @Test(.enabled(if: !isRoot, "root may search everything"))
  func namesThatCannotBeLookedAtAreShownWithTheirType() throws {
    scratch.makeDirectory("d")
    scratch.write("d/f", "content")
    scratch.makeDirectory("d/e")
    chmod(scratch.full("d"), 0o400)
    defer { chmod(scratch.full("d"), 0o700) }
    let store = try open()
    let file = try #require(try store.item("d/f"))
    #expect(file.attributes.kind == .file && file.attributes.size == 0 && file.attributes.mode & 0o7777 == 0)
    #expect(try store.item("d/e")?.attributes.kind == .directory)
    #expect(store.unreadableEntries == 4)
    #expect(thrown { () throws(FSError) in _ = try store.open(file) }?.errno == .permissionDenied)
  }

  @Test func listingAFileIsRefused() throws {
    scratch.write("f", "x")
    let store = try open()
    let file = try #require(try store.item("f"))
    #expect(thrown { () throws(FSError) in _ = try store.entries(file) }?.errno == .notDirectory)
  }

  /// 40 levels of 200 bytes: 8,040 bytes of path, which the kernel takes in no single call.
  @Test func pathsBeyondTheKernelsLimit() throws {
    let name = String(repeating: "n", count: 200)
    var directory = Glibc.open(scratch.path, O_RDONLY | O_DIRECTORY)
    for _ in 0..<40 {
      #expect(mkdirat(directory, name, 0o755) == 0)
      let next = openat(directory, name, O_RDONLY | O_DIRECTORY)
      #expect(next >= 0)
      close(directory)
      directory = next
    }
    let file = openat(directory, "f", O_CREAT | O_WRONLY, 0o644)
    #expect(Glibc.write(file, "deep", 4) == 4)
    close(file)
    #expect(symlinkat("target", directory, "l") == 0)
    close(directory)
    let store = try open()
    let prefix = Array(repeating: name, count: 40).joined(separator: "/")
    let item = try #require(try store.item(prefix + "/f"))
    #expect(item.key.count == 8041)
    #expect(try store.content(item) == Array("deep".utf8))
    let link = try #require(try store.item(prefix + "/l"))
    #expect(try store.readLink(link) == Array("target".utf8))
    #expect(try store.extendedAttributeNames(of: item).isEmpty || isRoot)
  }

  @Test func entriesThatVanishWhileListingAreLeftOut() throws {
    let scratch = scratch
    for index in 0..<200 { scratch.write("stable-\(index)", "x") }
    let store = try open()
    let churn = Repeater {
      for index in 0..<50 { scratch.write("short-\(index)", "x") }
      for index in 0..<50 { scratch.remove("short-\(index)") }
    }
    defer { churn.stop() }
    for _ in 0..<100 {
      let names = Set(try store.entries(store.rootItem).map(\.name))
      #expect((0..<200).allSatisfy { names.contains(Array("stable-\($0)".utf8)) })
    }
  }
}
