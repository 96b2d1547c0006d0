import DatalessCore
import Glibc
import SystemPackage
import Testing

@testable import DatalessDaemon

@Suite struct LogOutputTests {
  private static let record = Event.handleClosed(SampleRecords.closed)

  @Test func aTornLineIsEndedFirst() throws {
    let directory = try LogFixture.makeDirectory()
    defer { LogFixture.removeDirectory(directory) }
    let path = directory + "/log"
    for (before, after) in [("", "{}\n"), ("{}\n", "{}\n{}\n"), ("{\"a", "{\"a\n{}\n")] {
      unlink(path)
      let descriptor = try LogFiles.open(Array(path.utf8))
      _ = write(descriptor, before, before.utf8.count)
      close(descriptor)
      var output = LogOutput(descriptor: try LogFiles.open(Array(path.utf8)))
      #expect(output.write(Array("{}\n".utf8)[...]).failure == nil)
      output.close()
      #expect(String(decoding: LogFixture.bytes(of: path), as: UTF8.self) == after)
    }
  }

  @Test func aLogIsPrivate() throws {
    let directory = try LogFixture.makeDirectory()
    defer { LogFixture.removeDirectory(directory) }
    let descriptor = try LogFiles.open(Array((directory + "/log").utf8))
    defer { close(descriptor) }
    var status = stat()
    #expect(fstat(descriptor, &status) == 0)
    #expect(status.st_mode & 0o777 == 0o600)
    #expect(fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0)
    #expect(fcntl(descriptor, F_GETFL) & O_APPEND != 0)
    #expect(throws: Errno.noSuchFileOrDirectory) { try LogFiles.open(Array((directory + "/no/log").utf8)) }
  }

  /// Of what fitted, whole lines stay; only the torn one is taken back.
  @Test(.enabled(if: geteuid() == 0, "needs root, to mount a small tmpfs"))
  func aFullDiskKeepsTheLinesThatFitted() throws {
    let disk = try SmallDisk()
    let path = disk.path + "/log"
    let line = [UInt8](repeating: UInt8(ascii: "x"), count: 98) + Array("\n".utf8)
    var output = LogOutput(descriptor: try LogFiles.open(Array(path.utf8)))
    defer { output.close() }
    #expect(output.write(line[...]).failure == nil)
    try disk.fill()
    // The page of the first line has room for some more.
    let lines = Array(repeatElement(line, count: 100).joined())
    let result = output.write(lines[...])
    #expect(result.failure == .noSpace)
    #expect(result.consumed > 0 && result.consumed % line.count == 0)
    #expect(LogFixture.bytes(of: path) == line + lines.prefix(result.consumed))
    disk.empty()
    #expect(output.write(lines[result.consumed...]).failure == nil)
    #expect(LogFixture.bytes(of: path) == line + lines)
  }

  @Test(.enabled(if: geteuid() == 0, "needs root, to mount a small tmpfs"))
  func aFullDiskLosesNothingWhileThereIsRoom() async throws {
    let disk = try SmallDisk()
    let fixture = try LogFixture(in: disk.path)
    try disk.fill()
    let count = 400
    for _ in 0..<count { fixture.log.record(Self.record) }
    // Some lines may have fitted into the last page of the file; the others wait.
    let full = await fixture.log.flush()
    #expect(full.lost > 0)
    #expect(fixture.log.status.failure == .noSpace)
    #expect(try fixture.lines().count == count - Int(full.lost))
    disk.empty()
    #expect(await fixture.log.flush() == LogFlush(lost: 0))
    #expect(fixture.log.status == LogStatus(dropped: 0, waiting: 0, failure: nil))
    #expect(try fixture.lines().map { $0["seq"]?.integer } == (1...Int64(count)).map { $0 })
  }

  @Test(.enabled(if: geteuid() == 0, "needs root, to mount a small tmpfs"))
  func aFullDiskStallsNobodyAndTheLossIsCounted() async throws {
    let disk = try SmallDisk()
    let fixture = try LogFixture(capacity: 50, in: disk.path)
    try disk.fill()
    for _ in 0..<2000 { fixture.log.record(Self.record) }
    _ = await fixture.log.flush()
    #expect(try fixture.lines().allSatisfy { $0["type"]?.string == "handle.closed" })
    let dropped = fixture.log.status.dropped
    #expect(dropped > 0)
    disk.empty()
    #expect(await fixture.log.flush() == LogFlush(lost: dropped))
    let lines = try fixture.lines()
    let losses = lines.filter { $0["type"]?.string == "log.dropped" }.compactMap { $0["count"]?.integer }
    #expect(losses.reduce(0, +) == Int64(dropped))
    #expect(lines.count == 2000 - Int(dropped) + losses.count)
  }

  @Test(.enabled(if: geteuid() == 0, "needs root, to mount a small tmpfs"))
  func closingOnAFullDiskSaysSo() async throws {
    let disk = try SmallDisk()
    let fixture = try LogFixture(in: disk.path)
    try disk.fill()
    for _ in 0..<200 { fixture.log.record(Self.record) }
    #expect(!fixture.log.close(timeout: .seconds(30)))
    #expect(try fixture.lines().count < 200)
  }
}
