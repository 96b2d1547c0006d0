import DatalessControl
import Glibc
import SystemPackage
import Testing

@testable import DatalessReports

/// Where a report goes, in a directory in which others may make names.
@Suite struct ReportFileTests {
  private static let neighbour: uid_t = 65_534

  private func withDirectory(_ body: (String) throws -> Void) throws {
    var template = Array("/tmp/dataless-report-XXXXXX".utf8CString)
    let path = try #require(mkdtemp(&template).map { String(cString: $0) })
    chmod(path, 0o1777)
    defer {
      for name in ["report", "next", "victim"] { unlink("\(path)/\(name)") }
      rmdir(path)
    }
    try body(path)
  }

  private func write(_ text: String, to path: String) throws {
    let file = try ReportFile(path: Array(path.utf8))
    try file.write(text)
    try file.commit()
  }

  private func content(_ path: String) throws -> String {
    let file = try FileDescriptor.open(FilePath(path), .readOnly)
    defer { try? file.close() }
    return try withUnsafeTemporaryAllocation(byteCount: 100, alignment: 1) { buffer in
      String(decoding: buffer[..<(try file.read(into: buffer))], as: UTF8.self)
    }
  }

  @Test func aLinkOfOnesOwnStaysOne() throws {
    try withDirectory { directory in
      try write("old", to: "\(directory)/victim")
      symlink("\(directory)/victim", "\(directory)/report")
      try write("new", to: "\(directory)/report")
      #expect(try content("\(directory)/victim") == "new")
    }
  }

  private func isLink(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
  }

  /// As open(2) makes it. One link is relative to its directory, which is not the working directory.
  @Test func aLinkToAFileThatIsNotThereYetStaysOne() throws {
    try withDirectory { directory in
      let (report, victim) = ("\(directory)/report", "\(directory)/victim")
      symlink("next", report)
      symlink(victim, "\(directory)/next")
      try ReportFile.check(Array(report.utf8))
      #expect(access(victim, F_OK) != 0)
      try write("new", to: report)
      #expect(isLink(report) && isLink("\(directory)/next"))
      #expect(try content(victim) == "new")
      var status = stat()
      lstat(victim, &status)
      #expect(status.st_mode == S_IFREG | 0o600)
    }
  }

  @Test(arguments: [("report", ELOOP), ("none/victim", ENOENT)])
  func aLinkThatLeadsNowhereIsRefusedAndStaysOne(target: String, expected: CInt) throws {
    try withDirectory { directory in
      let report = "\(directory)/report"
      symlink(target, report)
      for use in [{ try write("new", to: report) }, { try ReportFile.check(Array(report.utf8)) }] {
        #expect(#expect(throws: ControlError.self) { try use() }?.errno?.rawValue == expected)
      }
      #expect(isLink(report))
    }
  }

  @Test(.enabled(if: geteuid() == 0, "makes links of another user"))
  func aLinkOfSomebodyElseOnTheWayIsNotFollowed() throws {
    try withDirectory { directory in
      let (report, next) = ("\(directory)/report", "\(directory)/next")
      symlink(next, report)
      symlink("\(directory)/victim", next)
      lchown(next, Self.neighbour, Self.neighbour)
      #expect(#expect(throws: ControlError.self) { try write("new", to: report) }?.errno == .notPermitted)
      #expect(access("\(directory)/victim", F_OK) != 0 && isLink(report))
    }
  }

  @Test(.enabled(if: geteuid() == 0, "makes links and FIFOs of another user"))
  func whatSomebodyElseHasPutThereIsNotFollowed() throws {
    try withDirectory { directory in
      let report = "\(directory)/report"
      try write("old", to: "\(directory)/victim")
      symlink("\(directory)/victim", report)
      lchown(report, Self.neighbour, Self.neighbour)
      for use in [{ try write("new", to: report) }, { try ReportFile.check(Array(report.utf8)) }] {
        #expect(#expect(throws: ControlError.self) { try use() }?.errno == .notPermitted)
      }
      #expect(try content("\(directory)/victim") == "old")
      unlink(report)
      // Nobody reads it: whoever opened it would wait.
      mkfifo(report, 0o666)
      lchown(report, Self.neighbour, Self.neighbour)
      #expect(#expect(throws: ControlError.self) { try write("new", to: report) }?.errno == .notPermitted)
    }
  }

  @Test func aSocketIsRefusedAndNotWaitedFor() throws {
    try withDirectory { directory in
      let report = "\(directory)/report"
      #expect(mknod(report, S_IFSOCK | 0o600, 0) == 0)
      #expect(#expect(throws: ControlError.self) { try write("text", to: report) }?.errno?.rawValue == ENXIO)
    }
  }

  @Test func nobodyWaitsForeverForTheReaderOfAFIFO() throws {
    try withDirectory { directory in
      let report = "\(directory)/report"
      mkfifo(report, 0o600)
      let error = #expect(throws: ControlError.self) { try ReportFile(path: Array(report.utf8), readerPolls: 2) }
      #expect(error?.errno?.rawValue == ENXIO)
    }
  }

  @Test func aReportGoesToTheReaderOfAFIFO() throws {
    try withDirectory { directory in
      let report = "\(directory)/report"
      mkfifo(report, 0o600)
      let reader = open(report, O_RDONLY | O_NONBLOCK)
      defer { close(reader) }
      try write("text", to: report)
      var buffer = [UInt8](repeating: 0, count: 10)
      #expect(read(reader, &buffer, 10) == 4)
    }
  }
}
