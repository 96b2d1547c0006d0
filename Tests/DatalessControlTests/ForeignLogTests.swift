import Glibc
import Testing

@testable import DatalessCommands
@testable import DatalessControl

/// What a neighbour may have put where somebody looks for a log.
@Suite struct ForeignLogTests {
  private static func check(_ path: String) -> Int32 {
    DatalessCommand.execute(["check-log", path, "--max-files", "1"])
  }

  private static func withFolder(_ body: (String) throws -> Void) throws {
    let folder = "/tmp/dataless-foreign-\(UInt64.random(in: 0 ... .max))"
    try #require(mkdir(folder, 0o700) == 0)
    defer {
      for name in ["log", "link"] { unlink("\(folder)/\(name)") }
      rmdir(folder)
    }
    try body(folder)
  }

  @Test func aDirectoryIsNoLog() throws {
    try Self.withFolder { folder in #expect(Self.check(folder) == 3) }
  }

  /// Nobody may ever write into it.
  @Test(.enabled(if: geteuid() == 0, "root alone can give a pipe to somebody"), .timeLimit(.minutes(1)))
  func aPipeOfAnotherUserIsNotWaitedFor() throws {
    try Self.withFolder { folder in
      let path = "\(folder)/log"
      try #require(mkfifo(path, 0o666) == 0 && chown(path, 65_534, 65_534) == 0)
      let failure = #expect(throws: ControlError.self) { try LogFile(path: bytes(path)) }
      #expect(failure?.message.contains("a pipe of another user") == true)
      #expect(Self.check(path) == 1)
    }
  }

  /// As of a process substitution, and of `zcat run.jsonl.gz | dataless summary /dev/stdin`.
  @Test(.timeLimit(.minutes(1))) func aPipeOfOnesOwnIsReadToItsEnd() throws {
    var ends: [CInt] = [0, 0]
    try #require(pipe(&ends) == 0)
    let line = bytes(#"{"v":1,"type":"mark","session":"a"}"# + "\n")
    #expect(write(ends[1], line, line.count) == line.count)
    close(ends[1])
    defer { close(ends[0]) }
    let file = try LogFile(path: bytes("/proc/self/fd/\(ends[0])"))
    #expect(try file.next()?.session == "a")
    #expect(try file.next() == nil)
  }

  /// The whole way of a command. Reports read a log twice, and say what it must be.
  @Test(
    .timeLimit(.minutes(1)),
    arguments: [
      (["summary"], [], 0), (["log"], ["--json"], 0), (["check-log"], ["--max-files", "1"], 0),
      (["check-log"], ["--max-files", "0"], 90), (["summary"], ["--report", "json=/dev/null"], 1),
    ] as [([String], [String], Int32)])
  func aPipeOfOnesOwnIsALog(command: [String], options: [String], status: Int32) throws {
    var log = ExpectationLog()
    log.take("a")
    log.unmount()
    var ends: [CInt] = [0, 0]
    try #require(pipe(&ends) == 0)
    defer { close(ends[0]) }
    let content = log.log.bytes
    #expect(write(ends[1], content, content.count) == content.count)
    close(ends[1])
    #expect(DatalessCommand.execute(command + ["/dev/fd/\(ends[0])"] + options) == status)
    guard status == 1 else { return }
    let failure = #expect(throws: ControlError.self) {
      try LogFile.lastSession(of: bytes("/proc/self/fd/\(ends[0])"))
    }
    #expect(failure?.message.contains("it must be a regular file") == true)
  }

  /// It would be read for ever.
  @Test(.timeLimit(.minutes(1))) func aLinkToADeviceIsNotRead() throws {
    try Self.withFolder { folder in
      try #require(symlink("/dev/zero", "\(folder)/link") == 0)
      let failure = #expect(throws: ControlError.self) { try LogFile(path: bytes("\(folder)/link")) }
      #expect(failure?.message.contains("is no file, but a device") == true)
      #expect(Self.check("\(folder)/link") == 1)
    }
  }

  /// A line without an end, of which nothing is on the disk: as long as it is read, in the memory of one line.
  @Test(.timeLimit(.minutes(1))) func aLineWithoutAnEndIsNoRecord() throws {
    try Self.withFolder { folder in
      let path = "\(folder)/log"
      let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
      try #require(descriptor >= 0 && ftruncate(descriptor, 256 << 20) == 0)
      close(descriptor)
      #expect(Self.check(path) == 1)
      let file = try LogFile(path: bytes(path))
      #expect(try file.next() == nil && file.malformedLines == 1)
    }
  }
}
