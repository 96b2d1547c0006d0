import DatalessCore
import Glibc
import SystemPackage
import Testing

@testable import DatalessStores

/// What keeps one file's content from being another's, or less than it should be.
@Suite struct ContentGuardTests {
  private let scratch = Scratch("guard")
  private let session: SessionDirectory
  private let store: DiskContentStore

  init() throws {
    session = try SessionDirectory(cache: scratch.filePath, session: "0123456789ab")
    store = try DiskContentStore(in: session, slabCapacity: 4, places: 4)
  }

  private func bytes(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ 7) } }

  private var contentFiles: [String] { (try? FilePath(scratch.full("0123456789ab/content")).names().sorted()) ?? [] }

  /// Somebody shortens a file in the cache directory, before it is complete or after.
  @Test func aShortenedContentFileIsAnErrorAndNeverAShortFile() throws {
    let content = bytes(200_000)
    let writer = try store.makeWriter(size: 200_000)
    try writer.write(content, at: 0)
    let part = try #require(contentFiles.first { $0.hasSuffix(".part") })
    #expect(truncate(scratch.full("0123456789ab/content/\(part)"), 100_000) == 0)
    #expect(thrown { () throws(FSError) in _ = try writer.commit() }?.errno == .ioError)

    let whole = try store.makeWriter(size: 200_000)
    try whole.write(content, at: 0)
    let reference = try whole.commit()
    let name = try #require(contentFiles.first { !$0.hasPrefix("slab") && !$0.hasSuffix(".part") })
    #expect(truncate(scratch.full("0123456789ab/content/\(name)"), 100_000) == 0)
    var read = [UInt8](repeating: 0, count: 200_000)
    #expect(thrown { () throws(FSError) in _ = try store.readBytes(reference, &read, 0) }?.errno == .ioError)
  }

  @Test func aDiscardedWriterGivesItsSlotBack() throws {
    for _ in 0..<20 {
      let writer = try store.makeWriter(size: 4 * 4096)
      try writer.write(bytes(100), at: 0)
      writer.discard()
    }
    #expect(contentFiles == ["slab-0"], "one slab has room for one of them")
    #expect(store.allocatedBytes == 0)
  }

  /// Behind the slot of a file lies the next one's: its data is none of the first's.
  @Test func dataOfTheNextSlotIsNotThisFiles() throws {
    let first = try store.makeWriter(size: 8192)
    try first.write(bytes(4096), at: 0)
    let reference = try first.commit()
    let next = try store.makeWriter(size: 4096)
    try next.write(bytes(4096), at: 0)
    _ = try next.commit()
    #expect(try store.seek(reference, from: 0, hole: false) == 0)
    #expect(try store.seek(reference, from: 0, hole: true) == 4096)
    #expect(
      thrown { () throws(FSError) in _ = try store.seek(reference, from: 4096, hole: false) }?.errno
        == .noSuchAddressOrDevice)
  }

  @Test(arguments: [Int64(8192), 300_000])
  func aRangeBeyondTheEndIsRefused(size: Int64) throws {
    let reference = try store.makeRanged(size: size)
    let writer = try store.rangeWriter(reference)
    let piece = bytes(4096)
    for offset in [size - 4095, size, -1] {
      let error = piece.withUnsafeBytes { buffer in
        thrown { () throws(FSError) in try writer.write(buffer, at: offset) }
      }
      #expect(error?.errno == .invalidArgument, "at \(offset)")
    }
    piece.withUnsafeBytes { buffer in
      #expect(thrown { () throws(FSError) in try writer.write(buffer, at: size - 4096) } == nil)
    }
    writer.finish()
  }

  @Test func contentThatCameInRangesIsSubtractedAsItWasAdded() throws {
    let size: Int64 = 1 << 20
    let reference = try store.makeRanged(size: size)
    let writer = try store.rangeWriter(reference)
    let piece = bytes(8192)
    piece.withUnsafeBytes { buffer in
      #expect(thrown { () throws(FSError) in try writer.write(buffer, at: 65_536) } == nil)
    }
    writer.finish()
    #expect(store.allocatedBytes >= 8192)
    store.remove(reference)
    #expect(store.allocatedBytes == 0)
  }
}

/// Of SOURCE, what is longer or larger than usual.
@Suite struct UnusualSourceTests {
  private let scratch = Scratch("unusual")

  @Test func aLinkThatBecameLongerIsReadWhole() throws {
    let target = String(repeating: "long/", count: 100) + "end"
    scratch.makeSymlink("link", to: target)
    let store = try LocalStore(source: scratch.filePath)
    var item = try #require(try store.item("link"))
    item.attributes.size = 4
    #expect(try store.readLink(item) == Array(target.utf8))
  }

  @Test(.enabled(if: isRoot, "needs root, to make a device"))
  func deviceNumbersAreSourcesOwn() throws {
    // The second has a minor number of more than 255, which is in two pieces.
    for (index, number) in [0x103, 0x10_012c].enumerated() {
      try #require(mknod(scratch.full("device\(index)"), S_IFCHR | 0o600, dev_t(number)) == 0)
      let store = try LocalStore(source: scratch.filePath)
      let item = try #require(try store.item("device\(index)"))
      #expect(item.attributes.specialDevice == UInt64(scratch.status("device\(index)").st_rdev))
    }
  }
}
