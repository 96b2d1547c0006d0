import DatalessCore
import SystemPackage
import TestSupport
import Testing

@testable import DatalessStores

/// Content in files of its own that grows, is cut off and gets holes, beside arrays of bytes.
@Suite struct ContentWriteTests {
  private let scratch = Scratch("writes")
  private let store: DiskContentStore

  init() throws {
    let session = try SessionDirectory(cache: scratch.filePath, session: "0123456789ab")
    store = try DiskContentStore(in: session, slabCapacity: 64, places: 2)
  }

  private func all(_ id: ContentID) throws(FSError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0xee, count: Int(try store.size(of: id)) + 10)
    return Array(bytes[..<(try store.readBytes(id, &bytes, 0))])
  }

  private func write(_ bytes: [UInt8], to id: ContentID, at offset: Int) throws(FSError) -> ContentExtent {
    let result: Result<ContentExtent, FSError> = bytes.withUnsafeBytes { buffer in
      do throws(FSError) {
        let (count, extent) = try store.write(id, buffer, at: Int64(offset))
        #expect(count == bytes.count)
        return .success(extent)
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  private static func allocate(_ model: inout [UInt8], _ kind: AllocationKind, _ range: Range<Int>) {
    switch kind {
    case .allocate(keepsSize: false), .zero(keepsSize: false):
      model += [UInt8](repeating: 0, count: max(0, range.upperBound - model.count))
    default: break
    }
    if case .allocate = kind { return }
    for place in range.clamped(to: 0..<model.count) { model[place] = 0 }
  }

  @Test(arguments: TestSeed.seeds) func contentIsWhatWasWritten(seed: UInt64) throws {
    var random = TestRandom(seed: seed)
    var files: [(id: ContentID, bytes: [UInt8])] = []
    // More than there are places for descriptors.
    for _ in 0..<4 { files.append((try store.makeWritable(size: 0, copying: nil), [])) }
    for step in 0..<400 {
      let index = random.below(files.count)
      let id = files[index].id
      let offset = random.below(files[index].bytes.count + 9_000)
      let context = "step \(step), seed \(seed)"
      switch random.below(4) {
      case 0:
        let size = random.oneIn(4) ? 0 : offset
        try store.resize(id, to: Int64(size))
        let bytes = files[index].bytes
        files[index].bytes = Array(bytes.prefix(size)) + [UInt8](repeating: 0, count: max(0, size - bytes.count))
      case 1:
        let kind = random.element(
          of: [AllocationKind.allocate(keepsSize: false), .allocate(keepsSize: true), .punchHole])
        let range = offset..<offset + 1 + random.below(9_000)
        do throws(FSError) {
          try store.allocate(id, kind, range: Int64(range.lowerBound)..<Int64(range.upperBound))
          Self.allocate(&files[index].bytes, kind, range)
        } catch {
          #expect(error.errno == .notSupported, "\(context): \(error)")
        }
      default:
        let bytes = (0..<1 + random.below(5_000)).map { _ in random.byte() }
        let extent = try write(bytes, to: id, at: offset)
        files[index].bytes += [UInt8](
          repeating: 0, count: max(0, offset + bytes.count - files[index].bytes.count))
        files[index].bytes.replaceSubrange(offset..<offset + bytes.count, with: bytes)
        #expect(extent.size == Int64(files[index].bytes.count), "\(context)")
      }
      #expect(try all(id) == files[index].bytes, "\(context)")
      #expect(try store.extent(of: id).size == Int64(files[index].bytes.count), "\(context)")
    }
    for file in files { store.remove(file.id) }
    #expect(store.allocatedBytes == 0)
  }

  @Test func whatIsInASlabIsNotWrittenTo() throws {
    let writer = try store.makeWriter(size: 3)
    try writer.write([1, 2, 3], at: 0)
    let id = try writer.commit()
    #expect(thrown { () throws(FSError) in _ = try write([9], to: id, at: 0) }?.errno == .invalidArgument)
    #expect(
      thrown { () throws(FSError) in try store.allocate(id, .punchHole, range: 0..<1) }?.errno == .invalidArgument)
    #expect(thrown { () throws(FSError) in _ = try store.extent(of: id) }?.errno == .invalidArgument)
    #expect(try all(id) == [1, 2, 3])
  }

  @Test func impossibleOffsetsAreRefused() throws {
    let id = try store.makeWritable(size: 0, copying: nil)
    #expect(thrown { () throws(FSError) in _ = try write([9], to: id, at: -1) }?.errno == .invalidArgument)
    #expect(thrown { () throws(FSError) in _ = try write([9], to: id, at: .max) }?.errno == .fileTooLarge)
    #expect(
      thrown { () throws(FSError) in try store.allocate(id, .punchHole, range: 5..<5) }?.errno == .invalidArgument)
    store.remove(id)
    #expect(thrown { () throws(FSError) in _ = try write([9], to: id, at: 0) }?.errno == .ioError)
  }

  /// The kernel tells whoever asks first that bytes did not get to the disk, and nobody who asks then.
  @Test func bytesThatTheDiskRefusedStayLost() throws {
    let (id, other) = (try store.makeWritable(size: 0, copying: nil), try store.makeWritable(size: 0, copying: nil))
    for id in [id, other] { _ = try write([1, 2, 3], to: id, at: 0) }
    let refused = thrown { () throws(FSError) in
      try store.sync(id) { (_) throws(Errno) in throw .noSpace }
    }
    #expect(refused?.errno == .noSpace)
    #expect(thrown { () throws(FSError) in try store.sync(id) }?.errno == .ioError)
    #expect(thrown { () throws(FSError) in _ = try store.sync([other, id]) { true } }?.errno == .ioError)
    try store.sync(other)
    _ = try write([4], to: id, at: 1)
    #expect(thrown { () throws(FSError) in try store.sync(id) }?.errno == .ioError, "two bytes of it are lost still")
    try store.resize(id, to: 0)
    _ = try write([5], to: id, at: 0)
    try store.sync(id)
  }

  @Test func aHoleTakesNoRoom() throws {
    let id = try store.makeWritable(size: 0, copying: nil)
    let extent = try write([9], to: id, at: 1 << 30)
    #expect(extent.size == 1 << 30 + 1 && extent.blocks < 1_000)
    #expect(store.allocatedBytes < 1 << 20)
  }
}
