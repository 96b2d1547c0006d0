import DatalessControl
import Glibc
import Testing

@testable import DatalessReports

/// Which line of a program reports name, and which of them GitHub can show.
@Suite struct PlaceTests {
  private static let libc = "/usr/lib/x86_64-linux-gnu/libc.so.6"

  private static func frame(
    _ symbol: String, _ file: String? = nil, _ line: UInt32? = nil, in module: String = "/code/p/cc"
  ) -> CallerFrame {
    CallerFrame(
      module: Array(module.utf8), offset: 1, symbol: Array(symbol.utf8), file: file.map { Array($0.utf8) }, line: line,
      foundBy: "tables")
  }

  /// C++, in which the line of the program is the fourth.
  private static let frames = [
    frame("__read", "../sysdeps/unix/sysv/linux/read.c", 26, in: libc),
    frame("std::filebuf::underflow()", in: "/usr/lib/x86_64-linux-gnu/libstdc++.so.6"),
    frame("std::istream::read(char*, long)", in: "/usr/lib/x86_64-linux-gnu/libstdc++.so.6"),
    frame("load(int)", "p/cc.cpp", 10), frame("main", "/code/p/cc.cpp", 12), frame("_start"),
  ]

  private static func stack(_ frames: [CallerFrame]) -> StackTable.Stack {
    StackTable.stack(CallerStack(isComplete: true, end: "outermost", frames: frames))
  }

  private static func violation(_ frames: [CallerFrame]) -> ReportVerdict.Violation {
    var violation = ReportVerdict.Violation("v", path: "photos/a.jpg")
    violation.setStack(stack(frames))
    return violation
  }

  /// What GitHub is told of one violation, between the first commas and the message.
  private static func place(_ violation: ReportVerdict.Violation, in workspace: String) -> String {
    let check = ReportVerdict.Check(name: "x", outcome: .failed, message: "m", violations: [violation])
    let lines = GitHubCommands.errors(
      ReportVerdict(checks: [check]), workspace: workspace, working: Array(workspace.utf8), source: "/s")
    return (lines.first ?? "").split(separator: "::").first.map { String($0.dropFirst("error title=dataless".count)) }
      ?? ""
  }

  @Test func reportsNameTheProgramsLine() {
    let violation = Self.violation(Self.frames)
    #expect(violation.file == "p/cc.cpp" && violation.line == 10)
    #expect(violation.stack.count == Self.frames.count && violation.stack.first == "__read (read.c:26)")
    #expect(ViolationText.lines(violation).contains("  at: p/cc.cpp:10"))
    #expect(violation.places.map(\.line) == [10, 12, 26])
    let library = Self.violation([Self.frames[0]])
    #expect(library.file == nil && library.line == nil && library.places.count == 1)
  }

  @Test func anIncompleteChainIsCalledSo() {
    let stack = StackTable.stack(CallerStack(isComplete: false, end: "too_deep", frames: Self.frames))
    var violation = ReportVerdict.Violation("v")
    violation.setStack(stack)
    let last = "    (incomplete: more frames than are kept)"
    #expect(violation.stack.count == Self.frames.count && ViolationText.lines(violation).last == last)
    let check = ReportVerdict.Check(name: "x", outcome: .failed, message: "m", violations: [violation])
    let errors = GitHubCommands.errors(ReportVerdict(checks: [check]), workspace: "", source: "")
    #expect(errors.first?.hasSuffix("%0A" + last) == true)
    #expect(stack.text(framesMax: 2).hasSuffix("load(int) (cc.cpp:10) < ... (incomplete)"))
    let whole = ViolationText.lines(Self.violation(Self.frames))
    #expect(whole.last?.contains("incomplete") == false)
    let deep = Array(repeating: Self.frames[2], count: 600)
    #expect(StackTable.stack(CallerStack(isComplete: true, end: "outermost", frames: deep)).gap == StackOutcome.tooDeep)
  }

  @Test func aLineOfTextHasWhatTheProgramCalledAndItsOwn() {
    #expect(
      Self.stack(Self.frames).text(framesMax: 5)
        == "std::istream::read(char*, long) (libstdc++.so.6+0x1) < load(int) (cc.cpp:10) < main (cc.cpp:12)")
    #expect(Self.stack(Self.frames).text(framesMax: 1) == "std::istream::read(char*, long) (libstdc++.so.6+0x1)")
  }

  @Test func comparisonsAndTablesShowTheProgramsFrames() throws {
    func log(_ end: Int64) throws -> LogLines {
      var log = LogLines()
      log.mounted()
      log.process(1, pid: 11, "cc")
      log.waited(1, "a", by: 1, thread: 11, from: 1_000, to: end)
      let bytes = try WireCoding.encode(CallerStack(isComplete: true, end: "outermost", frames: Self.frames))
      log.add(
        "wait.stack", at: end + 100,
        #""attempt":1,"process":1,"tid":11,"outcome":"ok","stack_id":1,"stack":"#
          + String(decoding: bytes, as: UTF8.self))
      log.unmounted(at: end + 200)
      return log
    }
    let own = "(libstdc++.so.6+0x1) < load(int) (cc.cpp:10) < main (cc.cpp:12)"
    let folder = try ReportFolder(log(9_000).bytes)
    let before = try folder.export([.markdown, .json])
    let difference = RunDifference(before: before, after: try ReportFolder(log(19_000).bytes).export([]))
    #expect(DifferenceText.lines(difference).contains { $0.hasSuffix(own) })
    #expect(difference.stacks.first?.frames?.count == Self.frames.count)
    let markdown = try folder.text(.markdown)
    #expect(markdown.contains(own) && !markdown.contains("__read"))
    let json = try #require(JSONObject(Array(try folder.text(.json).utf8.dropLast())))
    #expect(json.objects("stacks").first?.objects("frames").count == Self.frames.count)
  }

  // MARK: - Below a workspace

  /// A workspace with `p/cc.cpp`, a pipe, and links.
  private final class Folder {
    let path: String

    init() throws {
      var template = Array("/tmp/dataless-workspace-XXXXXX".utf8CString)
      guard mkdtemp(&template) != nil else { throw ReportFolder.Failure.errno(errno) }
      path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
      mkdir(path + "/p", 0o755)
      for name in ["p/cc.cpp", "a b.mjs"] { close(open("\(path)/\(name)", O_CREAT | O_WRONLY, 0o644)) }
      mkfifo(path + "/pipe.c", 0o644)
      symlink("/etc/passwd", path + "/out.c")
      symlink("/etc", path + "/etc")
    }

    deinit {
      for name in ["p/cc.cpp", "a b.mjs", "pipe.c", "out.c", "etc"] { unlink("\(path)/\(name)") }
      rmdir(path + "/p")
      rmdir(path)
    }
  }

  @Test func gitHubShowsTheInnermostLineBelowTheWorkspace() throws {
    let folder = try Folder()
    #expect(Self.place(Self.violation(Self.frames), in: folder.path) == ",file=p/cc.cpp,line=10")
    // Relative to a directory that is not the workspace.
    #expect(Self.place(Self.violation(Self.frames), in: "/code") == ",file=p/cc.cpp,line=12")
    // No line is below it: the file that came.
    #expect(Self.place(Self.violation(Self.frames), in: "/s") == ",file=photos/a.jpg")
    #expect(Self.place(Self.violation(Self.frames), in: "/elsewhere") == "")
    #expect(Self.place(Self.violation(Self.frames), in: "") == "")
  }

  /// What debug information says is anything: of such a name nothing reaches a terminal.
  @Test(arguments: ["\u{1b}]0;x\u{7}.c", "a\u{7f}.c", "a\u{9b}31m.c", "a\n.c", "\u{1}"])
  func aNameWithControlCharactersIsNoPlace(name: String) {
    let frames = [Self.frame("load", "/w/\(name)", 3), Self.frame("main", "/w/main.c", 7)]
    #expect(Self.place(Self.violation([frames[0]]), in: "/w") == "")
    #expect(Self.place(Self.violation(frames), in: "/w") == ",file=main.c,line=7")
  }

  /// What is escaped in a text would be the name of another file.
  @Test(
    arguments: [
      (Array("d/a.jpg".utf8), ",file=d/a.jpg"), (Array(#"d/a\b.jpg"#.utf8), #",file=d/a\b.jpg"#),
      (Array("d/a\u{1b}b.jpg".utf8), ""), (Array("d/a\n::x".utf8), ""), ([0x61, 0xff], ""),
    ] as [([UInt8], String)])
  func aFileOnTheVolumeIsNamedAsItIsOrNotAtAll(path: [UInt8], place: String) throws {
    let violation = ReportVerdict.Violation(Violation(expectation: "x", path: path, measured: 1, hint: ""))
    #expect(violation.path == TerminalText.escaped(path))
    #expect(Self.place(violation, in: "/s") == place)
    // The same of a budget of the run, which reports read from its log.
    var told = LogVerdict()
    let name = String(decoding: try WireCoding.encode(String(decoding: path, as: UTF8.self)), as: UTF8.self)
    for fields in [
      #""type":"budget.exceeded","budget":"files","path":\#(name)"#,
      #""type":"run.finished","budgets":{"max_files":1,"files":2,"exceeded":[{"budget":"files"}]}"#,
    ] {
      let record = try #require(LogRecord(line: Array(#"{"v":1,"session":"s",\#(fields)}"#.utf8)))
      told.add(record) { _ in ("x[1]", []) }
    }
    guard String(validating: path, as: UTF8.self) != nil else { return }
    let excess = try #require(told.checks.first?.violations.first)
    #expect(Self.place(excess, in: "/s") == place)
  }

  /// A package that is installed below the workspace is no place to mend, and nothing that GitHub has.
  @Test func theProgramComesBeforeWhatIsInstalledInTheWorkspace() {
    var stack = CallerStack(isComplete: true, end: "outermost", frames: [])
    stack.interpreted = InterpretedCaller(
      language: "node", isReadable: true, isComplete: true,
      frames: [("read", "/w/node_modules/f/i.js", 3), ("load", "file:///w/e.mjs", 2)].map {
        InterpretedFrame(function: Array($0.0.utf8), file: Array($0.1.utf8), line: $0.2)
      })
    var violation = ReportVerdict.Violation("v")
    violation.setStack(StackTable.stack(stack))
    #expect(Self.place(violation, in: "/w") == ",file=e.mjs,line=2")
  }

  @Test func aSourceIsFoundBelowTheWorkspaceAlone() throws {
    let folder = try Folder()
    let workspace = Workspace(folder.path, working: Array(folder.path.utf8))
    func name(_ path: String) -> String? { workspace.name(of: Array(path.utf8)) }
    for path in ["p/cc.cpp", "./p//cc.cpp", "\(folder.path)/p/cc.cpp", "\(folder.path)/build/../p/cc.cpp"] {
      #expect(name(path) == "p/cc.cpp", "\(path)")
    }
    #expect(name("file://\(folder.path)/a%20b.mjs") == "a b.mjs")
    // What is no escape stands for itself.
    for odd in ["a%+5.mjs", "a%-0.mjs", "a%5", "a%", "a%g0%.mjs"] {
      #expect(name("file://\(folder.path)/\(odd)") == odd)
    }
    #expect(name("\(folder.path)/made.cpp") == "made.cpp")
    for path in [
      "", "/", ".", "p", "nothing.c", "pipe.c", "out.c", "etc/passwd", "../\(folder.path)/p/cc.cpp", "p/../p/cc.cpp",
      "\(folder.path)", "\(folder.path)/", "\(folder.path)/../etc/passwd", "\(folder.path)/x/../made.cpp",
      "\(folder.path)x/p/cc.cpp", "/etc/passwd", "node:fs", "<string>", "p/cc.cpp\0", "file://", "file://%00", "%",
      String(repeating: "a/", count: 5_000),
    ] { #expect(name(path) == nil, "\(path.prefix(60))") }
    #expect(workspace.name(of: Array(folder.path.utf8) + [UInt8(ascii: "/"), 0xff]) == nil)
    #expect(Workspace("").name(of: Array("/etc/passwd".utf8)) == nil)
  }

  /// A step may have a working directory of its own, and a build another one.
  @Test func aRelativeNameIsThatOfTheWorkingDirectory() throws {
    let folder = try Folder()
    for name in ["p/gen.sh", "gen.sh", "p/own.sh"] { close(open("\(folder.path)/\(name)", O_CREAT | O_WRONLY, 0o644)) }
    symlink("p/own.sh", folder.path + "/own.sh")
    symlink(".", folder.path + "/self")
    defer { for name in ["p/gen.sh", "gen.sh", "p/own.sh", "own.sh", "self"] { unlink("\(folder.path)/\(name)") } }
    func name(_ path: String, in working: String?, of workspace: String? = nil) -> String? {
      Workspace(workspace ?? folder.path, working: working.map { Array($0.utf8) }).name(of: Array(path.utf8))
    }
    let below = folder.path + "/p"
    #expect(name("cc.cpp", in: below) == "p/cc.cpp" && name("./cc.cpp", in: below) == "p/cc.cpp")
    #expect(name("cc.cpp", in: folder.path) == nil && name("p/cc.cpp", in: folder.path) == "p/cc.cpp")
    // Neither the one nor the other is known to be meant; a link leads to the same one.
    #expect(name("gen.sh", in: below) == nil && name("gen.sh", in: folder.path) == "gen.sh")
    #expect(name("own.sh", in: below) == "p/own.sh")
    // It is only at the top, or nobody knows where the program was started, or that is elsewhere.
    #expect(name("a b.mjs", in: below) == nil && name("p/cc.cpp", in: below) == nil)
    for working in [nil, "/", "/etc", folder.path + "x", folder.path + "/p/none"] {
      #expect(name("cc.cpp", in: working) == nil && name("p/cc.cpp", in: working) == nil)
      #expect(name("passwd", in: working) == nil && name("\(folder.path)/p/cc.cpp", in: working) == "p/cc.cpp")
    }
    // The variable names a link: it is the same directory.
    #expect(name("cc.cpp", in: below, of: folder.path + "/self") == "p/cc.cpp")
  }

  /// What stands in debug information is escaped in texts, and is a path where one is looked for.
  @Test func aPathThatIsEscapedInTextIsLookedForAsItIs() {
    let odd = "/w/\u{1b}" + String(repeating: "x", count: 400) + ".c"
    let violation = Self.violation([Self.frame("load", odd, 3)])
    #expect(violation.file?.hasPrefix("/w/\\x1bxx") == true && violation.file?.hasSuffix("...") == true)
    #expect(violation.places.map(\.path) == [Array(odd.utf8)])
    #expect(Self.place(Self.violation([Self.frame("load", "/w/a,b:c", 3)]), in: "/w") == ",file=a%2Cb%3Ac,line=3")
    // Nor is one looked for that has control characters.
    #expect(Self.place(Self.violation([Self.frame("load", "/w/a\n::add-mask::x", 3)]), in: "/w") == "")
  }
}
