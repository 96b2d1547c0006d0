import DatalessCore
import Glibc
import Testing

@testable import DatalessDaemon

@Suite struct LogFilesTests {
  private func touch(_ path: String) { close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)) }

  @Test func namesSortByTime() {
    let name = LogFiles.defaultName(session: "0123456789ab", now: 1_767_323_045)
    #expect(name == "20260102T030405Z-0123456789ab.jsonl")
    #expect(LogFiles.isDefaultName(name))
    let others = [
      "", "x.jsonl", "20260102T030405Z-0123456789aB.jsonl", "20260102T030405Z-0123456789ab.json", name + "l",
    ]
    for other in others {
      #expect(!LogFiles.isDefaultName(other))
    }
  }

  @Test func theNewestStayAndSoDoOthersFiles() throws {
    let directory = try LogFixture.makeDirectory()
    defer { LogFixture.removeDirectory(directory) }
    let logs = (0..<25).map { LogFiles.defaultName(session: "0123456789ab", now: 1_767_323_045 + $0) }
    for name in logs + ["mine.jsonl", "notes"] { touch(directory + "/" + name) }
    // The oldest is still being written.
    let inUse = try LogFiles.open(Array((directory + "/" + logs[0]).utf8))
    defer { close(inUse) }
    #expect(LogFiles.rotate(directory: Array(directory.utf8)) == 4)
    #expect(LogFixture.names(in: directory) == [logs[0]] + logs[5...] + ["mine.jsonl", "notes"])
    #expect(LogFiles.rotate(directory: Array(directory.utf8), keeping: 0) == 20)
    #expect(LogFiles.rotate(directory: Array((directory + "/none").utf8)) == 0)
  }

  @Test func timesAreUTCWithNineDigits() {
    func text(_ nanoseconds: Int64) -> String {
      var clock = SessionClock(wallOffset: 0)
      return String(decoding: clock.text(.init(nanoseconds: nanoseconds)), as: UTF8.self)
    }
    #expect(text(0) == "1970-01-01T00:00:00.000000000Z")
    #expect(text(951_782_400_000_000_001) == "2000-02-29T00:00:00.000000001Z")
    #expect(text(1_767_323_045_999_999_999) == "2026-01-02T03:04:05.999999999Z")
    #expect(text(-1) == "1969-12-31T23:59:59.999999999Z")
  }
}
