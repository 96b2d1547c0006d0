import ArgumentParser
import DatalessCore
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import DatalessCommands
@testable import DatalessControl

/// What a tool may materialize, as a file.
@Suite struct BaselineTests {
  private static func baseline(_ text: String, isUpdate: Bool = false) throws -> Baseline {
    try Baseline(parsing: bytes("dataless baseline 1\n" + text), file: "b", isUpdate: isUpdate)
  }

  @Test func aPathThatIsNotInItFailsAndOneThatIsNotTouchedIsSaid() throws {
    var log = ExpectationLog()
    log.take("", { ($0.kind, $0.trigger) = ("directory", "readdir") })
    log.take("a")
    log.take("new")
    log.take("failed", { $0.outcome = "EIO" })
    log.unmount()
    let verdict = try log.verdict([], baseline: Self.baseline("directory .\nfile a\nfile gone\n"))
    #expect(verdict.outcome == .violated && verdict.violations.map(\.path) == ["new"])
    #expect(verdict.violations.first?.process?.name == "python3 fm.py")
    let result = try #require(verdict.baseline)
    #expect(result.entryCount == 3 && result.newCount == 1 && result.untouched?.map(\.path) == ["gone"])
    #expect(try log.verdict([], baseline: Self.baseline("directory .\nfile a\nfile new\n")).outcome == .held)
    // A directory is no file.
    #expect(try log.verdict([], baseline: Self.baseline("file .\nfile a\nfile new\n")).outcome == .violated)
  }

  /// Which of them the log calls it by depends on what was listed before.
  @Test func aFileOfSeveralNamesIsOneByAnyOfThem() throws {
    var log = ExpectationLog()
    let file =
      #""attempt":1,"path":"pub/key","names":["pub/key","secret/key"],"kind":"file","size":3,"process":3,"tid":11"#
    log.log.add("materialization.started", at: 1_000, file + #","trigger":"read","file_attempt":1"#)
    log.log.add("materialization.finished", at: 2_000, file + #","bytes":3,"outcome":"ok","waiter_count":0"#)
    log.unmount()
    for text in ["file pub/key\n", "file secret/key\n", "file pub/key\nfile secret/key\n"] {
      let verdict = try log.verdict([], baseline: Self.baseline(text))
      #expect(verdict.outcome == .held && verdict.baseline?.untouched ?? [] == [], "\(text)")
    }
    #expect(try log.verdict([], baseline: Self.baseline("file other\n")).violations.map(\.path) == ["pub/key"])
    var update = Expectations([], baseline: try Self.baseline("", isUpdate: true))
    for line in log.log.lines { update.add(try #require(LogRecord(line: bytes(line)))) }
    let written = String(decoding: update.materialized?.text ?? [], as: UTF8.self)
    #expect(written.hasSuffix("file pub/key\nfile secret/key\n"))
  }

  @Test func inALogThatDoesNotTellAllNothingIsUntouched() throws {
    var log = ExpectationLog()
    log.take("a")
    let verdict = try log.verdict([], baseline: Self.baseline("file a\nfile b\n"))
    #expect(verdict.outcome == .unknown && verdict.baseline?.untouched == nil)
  }

  @Test func anUpdateHasWhatWasMaterializedSorted() throws {
    var log = ExpectationLog()
    for name in ["z", "photos/tmp.a1B2c3D4e5/x", "a b", "\\\"q\\\"", " x"] { log.take(name) }
    log.take("photos", { ($0.kind, $0.trigger) = ("directory", "readdir") })
    log.unmount()
    var checked = Expectations([], baseline: try Self.baseline("file old\n", isUpdate: true))
    for line in log.log.lines { checked.add(try #require(LogRecord(line: bytes(line)))) }
    #expect(checked.finish(log: []).outcome == .held)
    let text = String(decoding: try #require(checked.baseline).text, as: UTF8.self)
    let entries = text.split(separator: "\n").dropFirst(2)
    #expect(
      entries == [
        "file \" x\"", "file \"\\\"q\\\"\"", "file a b", "directory photos", "file photos/<temporary>/x", "file z",
      ])
    // What was written is what is read.
    #expect(try Baseline(parsing: bytes(text), file: "b", isUpdate: false).text.count < text.utf8.count)
    #expect(try log.verdict([], baseline: Baseline(parsing: bytes(text), file: "b", isUpdate: false)).outcome == .held)
  }

  @Test(arguments: [
    ("", "first line"), ("{}\n", "first line"), ("dataless baseline 2\n", "another format"),
    ("dataless baseline 1\nfile\n", "expected 'file PATH'"), ("dataless baseline 1\nfile \n", "expected"),
    ("dataless baseline 1\n<<<<<<< HEAD\n", "expected"), ("dataless baseline 1\nlink a\n", "expected"),
    ("dataless baseline 1\nfile \"\\x4\"\n", "expected"), ("dataless baseline 1\nfile \"\\x+4\"\n", "expected"),
    ("dataless baseline 1\nfile \"a\n", "expected"),
    ("dataless baseline 1\nfile /src/a\n", "begins with a slash"),
    ("dataless baseline 1\ndirectory \"/\"\n", "begins with a slash"),
    ("dataless baseline 1\nfile \"\"\n", "expected"), ("dataless baseline 1\nfile \"a\"b\"\n", "expected"),
  ])
  func whatIsNoBaselineIsRefusedWithARemedy(text: String, words: String) throws {
    let flaw = #expect(throws: Baseline.Flaw.self) {
      try Baseline(parsing: bytes(text), file: "b", isUpdate: false)
    }
    #expect(flaw?.message.contains(words) == true && flaw?.message.contains("--update-baseline") == true)
    #expect(flaw?.line == (text.hasPrefix("dataless baseline 1") ? 2 : 1))
  }

  /// As git for Windows checks files out.
  @Test func lineEndsMayBeOfWindows() throws {
    let text = bytes("dataless baseline 1\r\n# x\r\n\r\nfile a\r\n")
    var baseline = try Baseline(parsing: text, file: "b", isUpdate: false)
    let isKnown = (baseline.touch(.file, bytes("a")), baseline.touch(.file, bytes("a\r")))
    #expect(isKnown == (true, false))
  }

  @Test(arguments: TestSeed.seeds) func anyPathIsReadAsItWasWritten(seed: UInt64) throws {
    var random = TestRandom(seed: seed)
    for _ in 0..<300 {
      var baseline = Baseline(empty: "b", isUpdate: true)
      let bytes = (0...random.below(20)).map { _ in
        random.oneIn(2) ? random.element(of: Array("\n\r\"\\ #.<>x/\u{202e}\u{e9}".utf8)) : max(1, random.byte())
      }
      // No path on a volume begins with a slash.
      let path = bytes.first == UInt8(ascii: "/") ? [UInt8(ascii: "x")] + bytes : bytes
      _ = baseline.touch(.file, path)
      let text = baseline.text
      // A line for the path, and nothing that a terminal would obey.
      #expect(text.split(separator: UInt8(ascii: "\n")).count == 3)
      let shown = String(decoding: text, as: UTF8.self)
      #expect(shown.unicodeScalars.allSatisfy { $0 == "\n" || $0.properties.generalCategory != .control })
      var again = try Baseline(parsing: text, file: "b", isUpdate: false)
      let isKnown = again.touch(.file, path)
      #expect(isKnown, "seed \(seed): \(path)")
    }
  }

  @Test(arguments: [
    ("tmp.a1B2c3D4e5", "<temporary>"), ("tmpab12cd_9", "<temporary>"), ("tmpab12cd_9.txt", "<temporary>.txt"),
    (".goutputstream-A1B2C3", "<temporary>"), ("3f2504e0-4f89-11d3-9a0c-0305e82c3301.jpg", "<temporary>.jpg"),
    ("tmp", "tmp"), ("tmp.a", "tmp.a"), ("tmpAB12CD34", "tmpAB12CD34"), ("template.txt", "template.txt"),
    ("tmpab12cd345x", "tmpab12cd345x"), ("<temporary>", "<<temporary>"), ("<<temporary>", "<<<temporary>"),
    ("a/tmp.a1B2c3D4e5/b", "a/<temporary>/b"), ("", ""),
  ])
  func namesOfTemporaryFilesAreNormalized(name: String, normalized: String) {
    #expect(String(decoding: TemporaryName.normalized(bytes(name)), as: UTF8.self) == normalized)
  }

  // MARK: - The file

  private final class Folder {
    let path: String

    init() throws {
      var template = Array("/tmp/dataless-baseline-XXXXXX".utf8CString)
      try #require(mkdtemp(&template) != nil)
      path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    func file(_ name: String) -> [UInt8] { bytes("\(path)/\(name)") }

    var names: [String] {
      guard let stream = opendir(path) else { return [] }
      defer { closedir(stream) }
      var names: [String] = []
      while let entry = readdir(stream) {
        names.append(
          withUnsafePointer(to: &entry.pointee.d_name) {
            String(cString: UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self))
          })
      }
      return names.filter { $0 != "." && $0 != ".." }.sorted()
    }

    deinit {
      for name in names { unlink("\(path)/\(name)") }
      rmdir(path)
    }
  }

  private static func updated(_ path: String) -> Baseline {
    var baseline = Baseline(empty: "b", isUpdate: true)
    _ = baseline.touch(.file, bytes(path))
    return baseline
  }

  @Test func theFileIsWrittenWholeAndReadAgain() throws {
    let folder = try Folder()
    let file = folder.file("base line")
    #expect(throws: ControlError.self) { try BaselineFile.read(file, isUpdate: false) }
    #expect(try BaselineFile.read(file, isUpdate: true).isUpdate)
    try BaselineFile.write(Self.updated("a"), to: file)
    chmod(String(decoding: file, as: UTF8.self), 0o640)
    try BaselineFile.write(Self.updated("b"), to: file)
    var status = stat()
    #expect(stat(String(decoding: file, as: UTF8.self), &status) == 0 && status.st_mode & 0o777 == 0o640)
    var baseline = try BaselineFile.read(file, isUpdate: false)
    let isKnown = (baseline.touch(.file, bytes("a")), baseline.touch(.file, bytes("b")))
    #expect(isKnown == (false, true) && folder.names == ["base line"])
  }

  @Test func nothingIsWrittenThroughALinkOrToWhatIsNoFile() throws {
    let folder = try Folder()
    let (target, link) = (folder.file("target"), folder.file("link"))
    try BaselineFile.write(Self.updated("a"), to: target)
    symlink("target", String(decoding: link, as: UTF8.self))
    let error = #expect(throws: ControlError.self) { try BaselineFile.write(Self.updated("b"), to: link) }
    #expect(error?.errno == .tooManySymbolicLinkLevels && error?.message.contains("it is a link") == true)
    var kept = try BaselineFile.read(target, isUpdate: false)
    let isKept = kept.touch(.file, bytes("a"))
    #expect(isKept && folder.names == ["link", "target"])
    let pipe = folder.file("pipe")
    mkfifo(String(decoding: pipe, as: UTF8.self), 0o600)
    #expect(throws: ControlError.self) { try BaselineFile.write(Self.updated("b"), to: pipe) }
    #expect(throws: ControlError.self) { try BaselineFile.read(pipe, isUpdate: false) }
    #expect(throws: ControlError.self) { try BaselineFile.write(Self.updated("b"), to: folder.file("no/such")) }
    #expect(throws: ControlError.self) { try BaselineFile.write(Self.updated("b"), to: folder.file("x/")) }
    #expect(folder.names == ["link", "pipe", "target"])
  }

  /// What is wrong with a path is said before a command runs for it.
  @Test func whatCannotBeWrittenIsKnownBefore() throws {
    let folder = try Folder()
    try BaselineFile.write(Self.updated("a"), to: folder.file("there"))
    symlink("there", String(decoding: folder.file("link"), as: UTF8.self))
    for name in ["there", "new"] { try BaselineFile.check(folder.file(name)) }
    func flaw(_ name: String) throws -> ControlError? {
      let options = try ExpectationOptions.parse(["--baseline", "\(folder.path)/\(name)", "--update-baseline"])
      return #expect(throws: ControlError.self) { try options.readBaseline() }
    }
    let link = try flaw("link")
    #expect(link?.errno == .tooManySymbolicLinkLevels && link?.message.contains("it is a link") == true)
    let absent = try flaw("no/such")
    #expect(absent?.errno == .noSuchFileOrDirectory && absent?.message.contains("mkdir -p") == true)
    let folderName = try flaw("x/")
    #expect(folderName?.errno == .invalidArgument && folder.names == ["link", "there"])
  }

  /// A command that could not be executed, or was ended early, has not shown what it materializes.
  @Test func whatWasNotDoneMakesNoBaseline() throws {
    let folder = try Folder()
    try BaselineFile.write(Self.updated("a"), to: folder.file("b"))
    let options = try ExpectationOptions.parse(["--baseline", "\(folder.path)/b", "--update-baseline"])
    func ended(_ command: String) throws -> (verdict: Verdict, words: String?) {
      var expectations = Expectations([Expected(.maxFiles, 1)], baseline: try options.readBaseline())
      var log = ExpectationLog(isRun: true)
      log.finishRun(files: 0, bytes: 0, command: command)
      log.unmount()
      for line in log.log.lines { expectations.add(try #require(LogRecord(line: bytes(line)))) }
      var verdict = expectations.finish(log: [])
      let words = try options.update(expectations, &verdict)
      return (verdict, words)
    }
    for (command, reason) in [
      (#""signal":"SIGKILL""#, "a signal ended the command before it was done (SIGKILL)"),
      (
        #""exit_status":0,"interrupted_by":"SIGTERM""#,
        "the run was told to end before the command was done (SIGTERM)"
      ), (#""x":0"#, "nobody knows how the command ended"),
    ] {
      let cut = try ended(command)
      #expect(cut.words?.contains("b is left as it is: \(reason). Run once more") == true)
      #expect(cut.verdict.outcome == .held && cut.verdict.baseline?.isUpdated == false)
    }
    let none = try ended(#""exit_status":127,"not_started":"ENOENT""#)
    let reason = "the command could not be executed (ENOENT)"
    #expect(none.verdict.outcome == .unknown && none.verdict.expectations.map(\.outcome) == [.unknown, .unknown])
    #expect(none.verdict.expectations[0].reason == reason && none.verdict.gaps == [reason])
    #expect(none.words?.contains(reason) == true)
    #expect(try BaselineFile.read(folder.file("b"), isUpdate: false).result(isComplete: true).entryCount == 1)
  }

  /// Whoever mistypes loses nothing.
  @Test func anUpdateDoesNotReplaceWhatIsNoBaseline() throws {
    let file = try TemporaryFile(bytes("int main() {}\n"))
    let error = #expect(throws: ControlError.self) { try BaselineFile.read(file.path, isUpdate: true) }
    #expect(error?.message.contains(":1: it is no baseline") == true)
  }
}
