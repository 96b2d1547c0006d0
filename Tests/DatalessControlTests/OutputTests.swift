import DatalessControl
import Glibc
import Testing

@testable import DatalessCommands

@Suite struct OutputTests {
  @Test func writesLinesInOrder() throws {
    let pipe = try Pipe()
    let output = StandardOutput(descriptor: pipe.writing)
    try output.line("one")
    try output.line(bytes: [0xff])
    try output.flush()
    try output.flush()
    #expect(pipe.read() == bytes("one\n") + [0xff, 10])
  }

  @Test func whatCannotBeWrittenHidesNothingThatDoesNotHold() throws {
    let violated = CommandFailure("violated: max_files.", status: .violated)
    let problem = CommandFailure("cannot write to standard output (ENOSPC).")
    try MissingOutput.allowed(by: violated) { throw problem }
    // A reader that went away is no success, either.
    try MissingOutput.allowed(by: violated) { throw CommandExit(.success) }
    #expect(throws: problem) { try MissingOutput.allowed(by: nil) { throw problem } }
    #expect(throws: CommandExit(.success)) { try MissingOutput.allowed(by: nil) { throw CommandExit(.success) } }
  }

  /// A row may begin with the name of a file, and a file may be called as a command is.
  @Test func gitHubObeysNothingThatStandsInText() throws {
    let pipe = try Pipe()
    let row = "  ::add-mask::x"
    func print() throws {
      let output = StandardOutput(descriptor: pipe.writing)
      try output.line(row)
      try output.flush()
    }
    let gitHub = try #require(GitHubActions { $0 == "GITHUB_ACTIONS" ? "true" : nil })
    try GitHubActions.unobeyed(in: gitHub, descriptor: pipe.writing, print)
    let lines = String(decoding: pipe.read(), as: UTF8.self).split(separator: "\n").map(String.init)
    try #require(lines.count == 3)
    #expect(lines[0].hasPrefix("::stop-commands::dataless-") && lines[1] == row)
    #expect("::\(lines[0].dropFirst("::stop-commands::".count))::" == lines[2])
    // Commands are obeyed again also where the text could not be printed whole.
    #expect(throws: CommandExit(.runFailed)) {
      try GitHubActions.unobeyed(in: gitHub, descriptor: pipe.writing) { throw CommandExit(.runFailed) }
    }
    #expect(pipe.read() == bytes("\(lines[0])\n\(lines[2])\n"))
    try GitHubActions.unobeyed(in: nil, descriptor: pipe.writing, print)
    #expect(pipe.read() == bytes(row + "\n"))
  }

  @Test func droppedFilesAreNamedUpToALimit() {
    func lines(_ count: Int) -> [String] {
      let paths = (0..<count).map { bytes("d/\($0)") }
      let answer = RemoveAnswer(
        items: 1, directories: 0, bytes: 0, dirtyItems: Int64(count), dirtyBytes: 7, dropped: paths)
      return RemoveCommand.dropped(answer, at: bytes("/m"))
    }
    #expect(lines(0) == [])
    #expect(
      lines(2) == ["dataless: dropped: 2 files written here and nowhere else (7 B):", "  /m/d/0", "  /m/d/1"])
    let many = lines(1_234)
    #expect(many.count == 22 && many.last == "  and 1,214 more; --json names the first 1,000")
    // A daemon of an earlier version names the first one.
    var answer = RemoveAnswer(items: 1, directories: 0, bytes: 0, dirtyItems: 2, dropped: [bytes("a"), bytes("b")])
    answer.dropped = nil
    let named = RemoveCommand.dropped(answer, at: bytes("/m")).dropFirst()
    #expect(Array(named) == ["  /m/a", "  and 1 more; --json names the first 1,000"])
  }

  /// `dataless log | head` is no failure.
  @Test func aReaderThatWentAwayEndsTheCommandQuietly() throws {
    let pipe = try Pipe()
    pipe.closeReading()
    let output = StandardOutput(descriptor: pipe.writing)
    try output.line("lost")
    #expect(throws: CommandExit(.success)) { try output.flush() }
  }

  /// `dataless log --follow | head` may have nothing to write for hours.
  @Test func aReaderThatGoesAwayIsNoticedWithoutAWrite() async throws {
    let pipe = try Pipe()
    let (gone, continuation) = AsyncStream.makeStream(of: Void.self)
    let watch = try #require(ReaderWatch(descriptor: pipe.writing) { continuation.finish() })
    #expect(!watch.hasGone)
    pipe.closeReading()
    for await _ in gone {}
    #expect(watch.hasGone)
    watch.end()
  }

  @Test func nobodyIsToldOfAReaderWhenTheWorkIsDone() throws {
    let pipe = try Pipe()
    let watch = try #require(ReaderWatch(descriptor: pipe.writing) { Issue.record("told") })
    watch.end()
    pipe.closeReading()
    #expect(!watch.hasGone)
  }

  @Test func whatHasNoReaderIsNotWatched() throws {
    let descriptor = open("/dev/null", O_WRONLY | O_CLOEXEC)
    defer { close(descriptor) }
    #expect(ReaderWatch(descriptor: descriptor) {} == nil && ReaderWatch(descriptor: -1) {} == nil)
  }

  @Test func aClosedDescriptorIsAFailure() throws {
    let output = StandardOutput(descriptor: -1)
    try output.line("lost")
    #expect {
      try output.flush()
    } throws: {
      ($0 as? CommandFailure)?.message.contains("(EBADF)") == true
    }
  }

  @Test func aFullDiskIsAFailure() throws {
    let descriptor = open("/dev/full", O_WRONLY | O_CLOEXEC)
    defer { close(descriptor) }
    let output = StandardOutput(descriptor: descriptor)
    #expect {
      for _ in 0..<10_000 { try output.line("more than is collected before it is written") }
      try output.flush()
    } throws: {
      ($0 as? CommandFailure)?.message.contains("(ENOSPC)") == true
    }
  }

  private final class Pipe {
    private var reading: CInt
    let writing: CInt

    init() throws {
      var ends: [CInt] = [0, 0]
      guard pipe(&ends) == 0 else { throw TemporaryFile.Failure.errno(errno) }
      (reading, writing) = (ends[0], ends[1])
      for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    }

    deinit {
      closeReading()
      close(writing)
    }

    func closeReading() {
      if reading >= 0 { close(reading) }
      reading = -1
    }

    /// What is in the pipe now.
    func read() -> [UInt8] {
      var buffer = [UInt8](repeating: 0, count: 4096)
      let count = Glibc.read(reading, &buffer, buffer.count)
      return Array(buffer[0..<max(0, count)])
    }
  }
}
