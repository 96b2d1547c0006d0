import DatalessCore
@testable import DatalessDaemon
import Glibc
import SystemPackage
import Testing

/// Bytes of WRITEs that wait: all of them come back, and not all of them lie in memory.
@Suite struct KeptWritesTests {
  private struct InlineLane: BlockingLane {
    func submit(_ work: @escaping @Sendable () -> Void) { work() }
  }

  private static func bytes(_ number: Int, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ number &* 31) }
  }

  private static func keep(_ bytes: [UInt8], in writes: KeptWrites) throws(Errno) -> KeptBytes {
    let kept: Result<KeptBytes, Errno> = bytes.withUnsafeBytes { bytes in
      do throws(Errno) {
        return .success(try writes.keep(bytes))
      } catch {
        return .failure(error)
      }
    }
    return try kept.get()
  }

  private static func directory(_ path: String) -> CInt { open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }

  @Test func whatIsBeyondTheLimitLiesInAFileAndComesBackWhole() throws {
    let scratch = ScratchDirectory()
    let directory = Self.directory(scratch.path)
    defer { close(directory) }
    let writes = KeptWrites(directory: directory, lane: InlineLane(), memoryMax: 3 << 20)
    let sizes = [1 << 20, 1 << 20, 4096, 1 << 20, 1 << 20, 77, 1 << 20, 1 << 20]
    var kept: [KeptBytes?] = []
    for (number, size) in sizes.enumerated() { kept.append(try Self.keep(Self.bytes(number, size), in: writes)) }
    #expect(writes.use.memory <= 3 << 20 && writes.use.places == 4, "\(writes.use)")
    // The file has no name.
    #expect(!scratch.exists("writes"))
    for (number, size) in sizes.enumerated().reversed() {
      let same = try kept[number]?.withBytes { Array($0) == Self.bytes(number, size) }
      #expect(same == true)
    }
    // Places are used again.
    kept[7] = nil
    kept[6] = nil
    kept.append(try Self.keep(Self.bytes(9, 1 << 20), in: writes))
    #expect(writes.use.places == 3)
    #expect(try kept[8]?.withBytes { Array($0) == Self.bytes(9, 1 << 20) } == true)
    kept = []
    #expect(writes.use == (0, 0))
  }

  @Test func emptyAndHugeOnesAreKept() throws {
    let writes = KeptWrites(directory: -1, lane: InlineLane(), memoryMax: 0)
    #expect(try Self.keep([], in: writes).withBytes { $0.count } == 0)
    // Larger than the kernel's: in memory, whatever the limit.
    let huge = try Self.keep(Self.bytes(1, (1 << 20) + 1), in: writes)
    #expect(try huge.withBytes { $0.count } == (1 << 20) + 1)
  }

  @Test(.enabled(if: geteuid() == 0, "a small file system can only be mounted by root"))
  func aFullDiskIsToldAndNothingStaysTaken() throws {
    let disk = try SmallDisk()
    let directory = Self.directory(disk.path)
    defer { close(directory) }
    let writes = KeptWrites(directory: directory, lane: InlineLane(), memoryMax: 0)
    #expect(throws: Errno.noSpace) { _ = try Self.keep(Self.bytes(1, 1 << 20), in: writes) }
    #expect(writes.use == (0, 0))
    let small = try Self.keep(Self.bytes(2, 4096), in: writes)
    #expect(try small.withBytes { Array($0) == Self.bytes(2, 4096) })
  }
}
