import Glibc
import Testing

@testable import DatalessStacks

/// Callers that have gone before their stacks have names: most of them, when a file comes in a few milliseconds.
@Suite struct GoneCallerTests {
  private static func program() throws -> BlockedProgram {
    try BlockedProgram(
      options: ["-O1", "-g", "-fno-optimize-sibling-calls", "-Wl,--build-id=none"], isStripped: true)
  }

  /// A stack that was taken, to be named again and again by one symbol process.
  private struct Names {
    let capture: ThreadCapture
    let files: OpenedFiles
    private let process: SymbolProcess

    init(of program: BlockedProgram) throws {
      capture = try ThreadCapture.take(
        processID: program.processID, threadID: program.processID, volumes: []
      ) { _, _, _ in }.get().capture
      files = CallerFiles.open(capture.mappings, of: program.processID).files
      process = SymbolProcess {
        guard let (own, its) = StackSocket.pair() else { return nil }
        ServedStacks.thread(its) { SymbolServer.run($0) { true } }
        return (helper: nil, socket: own)
      }
    }

    func named(root: CallerRoot?, files: OpenedFiles) throws -> NamedStack {
      let naming = SymbolProcess.Naming(
        number: 1, identity: CallerIdentity(user: geteuid(), group: getegid()), root: root, capture: capture,
        interpreted: nil, files: files)
      var done = process.add(.symbolize(naming))
      while done.isEmpty { done = process.receive() }
      guard case .named(_, let stack)? = done.first else { throw BlockedProgram.Failure(what: "\(done)") }
      return stack
    }
  }

  private static func lines(_ stack: NamedStack) -> [String] {
    stack.frames.map { "\(String(decoding: $0.symbol, as: UTF8.self)):\($0.line)" }
  }

  @Test func aProcessThatEndsBeforeItIsNamedHasItsDebugInformation() throws {
    let program = try Self.program()
    let processID = program.processID
    // It is started for the first capture, which is taken by then.
    let served = try ServedStacks { socket in
      kill(processID, SIGKILL)
      while access("/proc/\(processID)/root/tmp", F_OK) == 0 { sched_yield() }
      SymbolServer.run(socket) { true }
    }
    guard case .stack(let stack) = try served.stack(of: program) else {
      Issue.record("no stack")
      return
    }
    #expect(Self.lines(stack).contains("inner:3") && Self.lines(stack).contains("main:6"), "\(Self.lines(stack))")
    #expect(stack.problem.isEmpty)
  }

  /// The files of a process are the same for the next one that runs the program.
  @Test func whatCouldNotBeLookedForIsLookedForAgain() throws {
    let program = try Self.program()
    let names = try Names(of: program)
    let files = names.files
    let gone = try names.named(root: nil, files: files)
    #expect(!Self.lines(gone).contains("inner:3") && !gone.problem.isEmpty)
    let none = try names.named(root: nil, files: OpenedFiles(files: [], descriptors: []))
    #expect(none.frames.allSatisfy { $0.symbol.isEmpty } && !none.problem.isEmpty)
    let root = try #require(CallerRoot(of: program.processID))
    let next = try names.named(root: root, files: files)
    #expect(Self.lines(next).contains("inner:3") && next.problem.isEmpty, "\(Self.lines(next))")
    kill(program.processID, SIGKILL)
    // Known by now: nobody has to be asked.
    let known = try names.named(root: nil, files: files)
    #expect(known.frames == next.frames)
  }

  /// A program without symbols has none, whether its process has gone or not.
  @Test func whatWasLookedAtIsNotMissing() throws {
    let program = try BlockedProgram(options: ["-O1", "-s", "-fno-optimize-sibling-calls", "-Wl,--build-id=none"])
    let names = try Names(of: program)
    let root = try #require(CallerRoot(of: program.processID))
    let present = try names.named(root: root, files: names.files)
    #expect(Self.lines(present).contains(":0") && present.problem.isEmpty, "\(Self.lines(present))")
    #expect(try names.named(root: nil, files: names.files) == present)
    let none = try names.named(root: nil, files: OpenedFiles(files: [], descriptors: []))
    #expect(String(decoding: none.problem, as: UTF8.self).hasPrefix("the process had gone before its files"))
  }

  @Test func aProcessThatHasGoneHasNoRoot() throws {
    let program = try BlockedProgram(options: ["-O0"])
    #expect(CallerRoot(of: program.processID) != nil)
    kill(program.processID, SIGKILL)
    while access("/proc/\(program.processID)/root/tmp", F_OK) == 0 { sched_yield() }
    #expect(CallerRoot(of: program.processID) == nil)
  }
}
