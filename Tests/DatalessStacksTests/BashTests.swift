import TestSupport
import Testing

@testable import DatalessStacks

/// Bash: real ones that wait, native frames and memory that are made up.
@Suite struct BashTests {
  /// nil for a bash of a version that is not known.
  private static func command(_ program: BlockedProgram) throws -> [String]? {
    guard case .stack(let stack) = try ServedStacks().stack(of: program), let bash = stack.interpreted else {
      throw BlockedProgram.Failure(what: "no stack")
    }
    #expect(String(decoding: bash.language, as: UTF8.self) == "bash")
    return bash.isReadable ? bash.frames.map(text) : nil
  }

  private static func text(_ frame: InterpretedFunction) -> String {
    let file = String(decoding: frame.file, as: UTF8.self).split(separator: "/").last ?? ""
    return "\(String(decoding: frame.function, as: UTF8.self)) \(file):\(frame.line.map(String.init) ?? "-")"
  }

  private static func expect(_ command: [String], of program: BlockedProgram) throws {
    guard let found = try Self.command(program) else { return }
    #expect(found == command)
  }

  @Test(.enabled(if: BlockedProgram.isInstalled("bash"))) func theCommandOfBash() throws {
    let script = "f() {\n  local x\n  read -r x\n}\nname=secret\nf \"$name\"\n"
    try Self.expect(["read -r x fm.sh:3"], of: BlockedProgram(bash: script))
  }

  /// The command that bash has noted is over: what waits is the reading of the next one.
  @Test(.enabled(if: BlockedProgram.isInstalled("bash"))) func aShellThatReadsItsScriptHasNoCommand() throws {
    try Self.expect([], of: BlockedProgram(shellInput: ": noted\n"))
  }

  /// A line is one of the file that has it, not of the script that was started.
  @Test(
    .enabled(if: BlockedProgram.isInstalled("bash")),
    arguments: ["\n\nread -r x\n", "f() {\n  :\n  read -r x\n}\n"])
  func aCommandOfASourcedFileIsThatFiles(library: String) throws {
    let script = "f() { :; }\n. \"${0%/*}/lib.sh\"\n:\n:\n:\n:\nf a\nexit\n"
    try Self.expect(["read -r x lib.sh:3"], of: BlockedProgram(bash: script, library: library))
  }

  /// It has gone elsewhere since, where its path leads to another file.
  @Test(.enabled(if: BlockedProgram.isInstalled("bash")), arguments: ["fm.sh", "./fm.sh", "../$0/fm.sh", "$0/fm.sh"])
  func aScriptByARelativePathHasItsWholePath(path: String) throws {
    let up = path.hasPrefix("$0") ? "cd .." : ":"
    let name = path.replacing("$0", with: "${place##*/}")
    let script = #"[ -n "$again" ] || { place=${0%/*}; cd "$place"; \#(up); again=1 exec bash "\#(name)"; }"#
    let program = try BlockedProgram(bash: script + "\ncd /\nread -r x\n")
    guard case .stack(let stack) = try ServedStacks().stack(of: program), let bash = stack.interpreted else {
      throw BlockedProgram.Failure(what: "no stack")
    }
    guard bash.isReadable else { return }
    let file = String(decoding: bash.frames.first?.file ?? [], as: UTF8.self)
    #expect(file.hasPrefix("/tmp/dataless-stacks-") && file.hasSuffix("/fm.sh") && !file.contains(".."), "\(file)")
    #expect(bash.frames.first?.line == 3)
  }

  /// What is open beside is not taken for another file.
  @Test(
    arguments: [
      ("a.sh", "/x/a.sh", true), ("./a.sh", "/x/a.sh", true), ("../b/a.sh", "/x/b/a.sh", true),
      ("b/a.sh", "/x/a.sh", false), ("a.sh", "/x/ba.sh", false), ("lib.sh", "/x/a.sh", false),
      ("a.sh", "pipe:[1]", false),
      ("a.sh", "/x/a.sh (deleted)", false), ("..", "/x/..", false), ("a.sh", "a.sh", false),
    ])
  func thePathOfTheScriptEndsAsItWasGiven(file: String, path: String, isPath: Bool) {
    #expect(BashScript.isPath(ArraySlice(path.utf8), of: Array(file.utf8)) == isPath)
  }

  /// Its text has lines of its own, the code of a substitution too.
  @Test(.enabled(if: BlockedProgram.isInstalled("bash"))) func aCommandThatIsEvaluatedHasNoLine() throws {
    try Self.expect(["read -r x fm.sh:-"], of: BlockedProgram(bash: ":\neval $':\\n:\\nread -r x'\n"))
  }

  /// Where the code comes from no file, there is no line of one.
  @Test(.enabled(if: BlockedProgram.isInstalled("bash"))) func aScriptFromStandardInputHasNoFile() throws {
    try Self.expect(["read -r x :-"], of: BlockedProgram(shellInput: "read -r x\n"))
  }

  /// Commands of traps are not noted: the noted one is that which was interrupted, or the last one.
  @Test(.enabled(if: BlockedProgram.isInstalled("bash")), arguments: ["exit", "kill -USR1 $$\n:"])
  func aTrapHasNoCommand(end: String) throws {
    let script = "t() {\n  read -r x\n}\ntrap t EXIT\ntrap 'read -r x' USR1\n: noted\n\(end)\n"
    try Self.expect([], of: BlockedProgram(bash: script))
  }

  /// Of redirections without a command, too, nothing shows that they are what was noted last. (With `<` alone a child
  /// waits for the file.)
  @Test(
    .enabled(if: BlockedProgram.isInstalled("bash")),
    arguments: [
      ": noted\n> PIPE", ": noted\n3< PIPE", ": noted\nx=a 3< PIPE", "f() { : noted; 3< PIPE; }\nf a",
      "f() { 3< PIPE; }\nf noted", "3< /dev/null\n{ :; } < PIPE",
    ])
  func aRedirectionWithoutACommandIsNotTheCommandBefore(script: String) throws {
    try Self.expect([], of: try Self.opening(script))
  }

  /// `$(< FILE)` belongs to the command that it is in.
  @Test(
    .enabled(if: BlockedProgram.isInstalled("bash")),
    arguments: [
      (": noted\nx=$(< PIPE)", "x=$(< \"${0%/*}/pipe\") fm.sh:-"),
      ("f() { : noted; local x=$(< PIPE); }\nf a", "local x=$(< \"${0%/*}/pipe\") fm.sh:-"),
      (": noted\n[ -n \"$(< PIPE)\" ]", "[ -n \"$(< \"${0%/*}/pipe\")\" ] fm.sh:-"),
    ])
  func aFileThatIsSubstitutedIsReadByItsOwnCommand(script: String, command: String) throws {
    try Self.expect([command], of: try Self.opening(script))
  }

  /// Of `case` and `for` nothing is noted before their words are.
  @Test(
    .enabled(if: BlockedProgram.isInstalled("bash")),
    arguments: [": noted\ncase $(< PIPE) in a) ;; esac", ": noted\nfor x in $(< PIPE); do :; done"])
  func aFileThatIsSubstitutedInACompoundIsNotTheCommandBefore(script: String) throws {
    try Self.expect([], of: try Self.opening(script))
  }

  /// The noted command is the one before, or that which has called the function.
  @Test(
    .enabled(if: BlockedProgram.isInstalled("bash")),
    arguments: [
      ": noted\n{ :; } < PIPE", ": noted\nwhile read -r x; do :; done < PIPE", "f() { { :; } < PIPE; }\nf noted",
      "[[ -n noted ]]\n{ :; } < PIPE", "eval '{ :; } < PIPE'",
    ])
  func theRedirectionOfACompoundIsNotTheCommandBefore(script: String) throws {
    try Self.expect([], of: try Self.opening(script))
  }

  @Test(
    .enabled(if: BlockedProgram.isInstalled("bash")),
    arguments: [
      (":\nread -r x < PIPE", "read -r x < \"${0%/*}/pipe\" fm.sh:2"),
      (":\n. PIPE\n", ". \"${0%/*}/pipe\" fm.sh:2"),
      ("f() {\n  f2 < PIPE\n}\nf2() { :; }\nf", "f2 < \"${0%/*}/pipe\" fm.sh:2"),
    ])
  func theRedirectionOfACommandIsItsOwn(script: String, command: String) throws {
    try Self.expect([command], of: try Self.opening(script))
  }

  private static func opening(_ script: String) throws -> BlockedProgram {
    let pipe = "\"${0%/*}/pipe\""
    let parts = script.split(separator: "PIPE", omittingEmptySubsequences: false)
    return try BlockedProgram(bashThatOpens: parts.joined(separator: pipe) + "\n:\n")
  }

  /// Of which frames, innermost first, what is known. `words` is the call that expands those of a simple command.
  static let decisions: [(frames: String, isUnderWay: Bool, result: String)] = [
    ("read_builtin execute_command_internal reader_loop", false, "line"),
    ("read_builtin execute_command_internal parse_and_execute source_builtin", false, "line"),
    ("read_builtin execute_command_internal parse_and_execute source_file source_builtin", false, "line"),
    ("read_builtin execute_command_internal parse_and_execute eval_builtin", false, "command"),
    ("read_builtin execute_command_internal parse_and_execute", false, "command"),
    ("read_builtin execute_command_internal parse_and_execute command_substitute words", false, "command"),
    ("source_builtin execute_command_internal", false, "line"),
    ("source_file source_builtin execute_command_internal", false, "line"),
    ("eval_builtin execute_command_internal", true, "none"),
    ("execute_builtin execute_command_internal", false, "none"),
    // Of redirections, and of programs that are looked for and started.
    ("do_redirections execute_command_internal", false, "none"),
    ("do_redirections execute_command_internal", true, "line"),
    ("shell_execve execute_command_internal", true, "line"),
    ("do_redirections execute_command_internal parse_and_execute eval_builtin", true, "command"),
    ("do_redirections execute_command_internal execute_shell_function compgen_builtin", true, "none"),
    // Words of `for` and `select`, and of a simple command.
    ("shell_glob_filename execute_command_internal", false, "none"),
    ("shell_glob_filename words execute_command_internal", false, "line"),
    ("shell_glob_filename execute_command_internal words execute_command_internal", false, "none"),
    // `[[`, and `test`.
    ("unary_test execute_command_internal", false, "command"),
    ("unary_test test_builtin execute_command_internal", false, "line"),
    // `$(< FILE)` is part of what it is in.
    ("open_redir_file command_substitute words execute_command_internal", false, "command"),
    ("zcatfd parse_and_execute command_substitute words execute_command_internal", false, "command"),
    ("open_redir_file command_substitute execute_command_internal", false, "none"),
    ("command_substitute words execute_command_internal", false, "none"),
    ("read_command reader_loop execute_command_internal", true, "none"),
    ("yyparse parse_command parse_and_execute execute_command_internal", true, "none"),
    ("read_builtin", false, "none"), ("", true, "none"),
  ]

  @Test func framesDecide() {
    for (frames, isUnderWay, result) in Self.decisions { Self.decide(frames, isUnderWay: isUnderWay, result: result) }
  }

  private static func decide(_ frames: String, isUnderWay: Bool, result: String) {
    let module = Array("/bin/bash".utf8)
    var native = NamedStack(
      frames: [NamedFrame(module: Array("/lib/libc.so.6".utf8), offset: 7, certainty: .tables)], end: .outermost)
    for name in frames.split(separator: " ") {
      native.frames.append(
        NamedFrame(
          module: module, offset: name == "words" ? 7 : 8,
          symbol: name == "words" ? [] : Array(name.utf8), certainty: .tables))
      // A static function.
      native.frames.append(NamedFrame(module: module, offset: 9, certainty: .tables))
    }
    let command = BashCommand(
      text: Array("read".utf8), file: Array("fm.sh".utf8), line: 3, hasName: true, isUnderWay: isUnderWay,
      expansions: [7])
    func found(_ command: BashCommand) -> String {
      BashShell.stack(command, native).frames.first.map { $0.line == nil ? "command" : "line" } ?? "none"
    }
    #expect(found(command) == result, "\(frames)")
    native.end = .unknownRegister
    #expect(found(command) == (result == "line" ? "command" : result), "\(frames)")
    #expect(found(BashCommand(isUnderWay: true, expansions: [7])) == "none", "\(frames)")
  }

  @Test func anArrayIsFoundByItsName() {
    var memory = BashMemory.made
    func first(_ name: String) -> String? {
      BashArrays(globals: NodeMemory.base, memory: memory)?.first(of: name)
        .map { String(decoding: $0, as: UTF8.self) }
    }
    #expect(first("BASH_SOURCE") == "lib.sh")
    #expect(first("FUNCNAME") == nil)
    // No element; then the first is not element 0; then it is no array; then the chain has no end.
    memory.set(BashMemory.array + 8, 0)
    #expect(first("BASH_SOURCE")?.isEmpty == true)
    memory = BashMemory.made
    memory.set(BashMemory.element, 1)
    #expect(first("BASH_SOURCE") == nil)
    memory = BashMemory.made
    memory.set(BashMemory.variable + 40, 0)
    #expect(first("BASH_SOURCE") == nil)
    memory = BashMemory.made
    memory.set(BashMemory.bucket + 24, 1)
    memory.set(BashMemory.bucket, NodeMemory.base + UInt64(BashMemory.bucket))
    #expect(first("BASH_SOURCE") == nil)
    // Of a table whose size is none.
    for size in [0, 3, 1 << 24, 1 << 31] as [UInt64] {
      memory.set(BashMemory.table + 8, size)
      let isFound = BashArrays(globals: NodeMemory.base, memory: memory) != nil
      #expect(!isFound)
    }
  }

  @Test(arguments: TestSeed.seeds) func anyMemoryIsReadWithinBounds(seed: UInt64) throws {
    try Fuzz.run("stacks: arrays of bash", seed: seed, cases: 2000) { random, _ in
      var memory = BashMemory.made
      for _ in 0..<(1 + random.below(4)) {
        let pointer = NodeMemory.base + UInt64(random.below(1024))
        let words: [UInt64] = [0, 1, pointer, random.next(), .max]
        memory.set(8 * random.below(120), random.element(of: words))
      }
      let arrays = BashArrays(globals: NodeMemory.base, memory: memory)
      for name in ["BASH_SOURCE", "FUNCNAME", ""] {
        if let first = arrays?.first(of: name) { #expect(first.count < BashArrays<NodeMemory>.textMax) }
      }
    }
  }
}

/// A table of bash's global variables with one bucket, as bash 5.2 has it.
enum BashMemory {
  static let (context, table, buckets, bucket, variable) = (0x40, 0x80, 0xc0, 0x100, 0x140)
  static let (array, head, element, key, value) = (0x180, 0x1c0, 0x200, 0x240, 0x280)

  static var made: NodeMemory {
    var memory = NodeMemory(count: 1024)
    func pointer(_ offset: Int) -> UInt64 { NodeMemory.base + UInt64(offset) }
    memory.set(0, pointer(context))
    memory.set(context + 32, pointer(table))
    memory.set(table, pointer(buckets))
    memory.set(table + 8, 1)
    memory.set(buckets, pointer(bucket))
    memory.set(bucket + 8, pointer(key))
    memory.set(bucket + 16, pointer(variable))
    memory.set(bucket + 24, 0x929d_46fd)
    memory.set(variable + 8, pointer(array))
    memory.set(variable + 40, 0x6004)
    memory.set(array + 8, 1)
    memory.set(array + 16, pointer(head))
    memory.set(head, .max)
    memory.set(head + 16, pointer(element))
    memory.set(element + 8, pointer(value))
    memory.set(element + 16, pointer(head))
    memory.content.replaceSubrange(key..<key + 11, with: "BASH_SOURCE".utf8)
    memory.content.replaceSubrange(value..<value + 6, with: "lib.sh".utf8)
    return memory
  }
}
