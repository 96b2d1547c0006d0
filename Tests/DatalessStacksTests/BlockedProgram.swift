import Glibc

@testable import DatalessStacks

/// A program that was written here and waits in read(2) of a pipe.
final class BlockedProgram {
  static let source = """
    #include <unistd.h>
    static volatile char byte;
    __attribute__((noinline)) static int inner(int n) { char b[64]; b[0] = 0; long r = read(0, b, 1); byte = b[0]; return (int)r + n; }
    __attribute__((noinline)) static int middle(int n) { return inner(n + 1) * 3; }
    __attribute__((noinline)) static int recursive(int n) { return n ? recursive(n - 1) + 1 : middle(n) + 2; }
    int main(int count, char **words) { (void)words; return recursive(count + 2) & 1; }
    """
  /// Innermost first, without what libc has around them.
  static let functions = ["inner", "middle", "recursive", "recursive", "recursive", "recursive", "main"]

  struct Failure: Error { let what: String }

  /// Whether a program is in PATH.
  static func isInstalled(_ program: String) -> Bool {
    (getenv("PATH").map { String(cString: $0) } ?? "").split(separator: ":")
      .contains { access("\($0)/\(program)", X_OK) == 0 }
  }

  let processID: Int32
  /// The thread that waits.
  private(set) var threadID: Int32
  private let input: Int32
  let directory: String

  /// - Parameters:
  ///   - options: Of the compiler.
  ///   - isStripped: Whether its debug information is in a file beside it.
  ///   - spoilsDebugFile: Whether that file is not the one that the link means.
  convenience init(
    source: String = source, options: [String], compiler: String = "cc", isStripped: Bool = false,
    spoilsDebugFile: Bool = false
  ) throws {
    try self.init(file: "p.c", text: source) { directory in
      let (program, debug) = (directory + "/p", directory + "/p.debug")
      try Self.run([compiler, "-o", program] + options + [directory + "/p.c"])
      if isStripped {
        try Self.run(["objcopy", "--only-keep-debug", program, debug])
        try Self.run(["objcopy", "--strip-all", "--add-gnu-debuglink=" + debug, program])
      }
      if spoilsDebugFile, let stream = fopen(debug, "a") {
        fputs(" ", stream)
        fclose(stream)
      }
      return [program]
    }
  }

  private static func run(_ words: [String]) throws {
    let process = try start(words, input: nil)
    var status: Int32 = 0
    waitpid(process, &status, 0)
    guard status == 0 else { throw Failure(what: "\(words)") }
  }

  /// - Parameters:
  ///   - go: A program in Go.
  ///   - options: Of `go build`.
  convenience init(go: String, options: [String]) throws {
    try self.init(file: "p.go", text: go) { directory in
      try Self.run(["go", "build"] + options + ["-o", directory + "/p", directory + "/p.go"])
      return [directory + "/p"]
    }
  }

  /// - Parameter python: A program in Python.
  convenience init(python: String) throws {
    try self.init(file: "fm.py", text: python) { ["python3", $0 + "/fm.py"] }
  }

  /// - Parameter node: A program in JavaScript.
  convenience init(node: String) throws {
    try self.init(file: "fm.js", text: node) { ["node", $0 + "/fm.js"] }
  }

  /// - Parameter bash: A script.
  convenience init(bash: String) throws {
    try self.init(file: "fm.sh", text: bash) { ["bash", $0 + "/fm.sh"] }
  }

  /// - Parameters:
  ///   - bash: A script.
  ///   - library: A file beside it, `lib.sh`.
  convenience init(bash: String, library: String) throws {
    try self.init(file: "fm.sh", text: bash) { directory in
      guard let stream = fopen(directory + "/lib.sh", "w") else { throw Failure(what: "fopen") }
      fputs(library, stream)
      fclose(stream)
      return ["bash", directory + "/fm.sh"]
    }
  }

  /// - Parameter bashThatOpens: A script that opens `pipe` beside it, to which nobody writes.
  convenience init(bashThatOpens: String) throws {
    try self.init(file: "fm.sh", text: bashThatOpens, isOpening: true) { directory in
      guard mkfifo(directory + "/pipe", 0o600) == 0 else { throw Failure(what: "mkfifo") }
      return ["bash", directory + "/fm.sh"]
    }
  }

  /// - Parameter shellInput: What a shell is given to read, before it waits for more.
  convenience init(shellInput: String) throws {
    try self.init(file: "fm.sh", text: "", input: shellInput) { _ in ["bash"] }
  }

  /// - Parameters:
  ///   - isOpening: Whether it waits in openat(2), and not in read(2) of the pipe.
  ///   - command: The words to be started, from the directory in which the file is.
  private init(
    file: String, text: String, input given: String = "", isOpening: Bool = false,
    _ command: (String) throws -> [String]
  ) throws {
    let directory = "/tmp/dataless-stacks-\(getpid())-\(UInt64.random(in: 0 ... .max))"
    guard mkdir(directory, 0o700) == 0 else { throw Failure(what: "mkdir") }
    var isStarted = false
    defer { if !isStarted { Self.remove(directory) } }
    guard let stream = fopen(directory + "/" + file, "w") else { throw Failure(what: "fopen") }
    fputs(text, stream)
    fclose(stream)
    let words = try command(directory)
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { throw Failure(what: "pipe") }
    _ = fcntl(ends[1], F_SETFD, FD_CLOEXEC)
    write(ends[1], given, given.utf8.count)
    input = ends[1]
    defer { close(ends[0]) }
    processID = try Self.start(words, input: ends[0])
    threadID = processID
    self.directory = directory
    isStarted = true
    while isOpening ? !isOpeningForLong : !isReading {
      if waitpid(processID, nil, WNOHANG) != 0 { throw Failure(what: "it has ended") }
      sched_yield()
    }
    if let thread = readers.first { threadID = thread }
  }

  /// It sleeps in openat(2), as in that of a pipe to which nobody writes: a file that is there is opened at once.
  private var isOpeningForLong: Bool {
    let isOpening = ProcessFile.bytes("\(processID)/syscall", limit: 512)?.starts(with: "257 ".utf8) == true
    guard isOpening, let status = ProcessFile.bytes("\(processID)/stat", limit: 512),
      let name = status.lastIndex(of: UInt8(ascii: ")"))
    else { return false }
    return status[name...].starts(with: ") S ".utf8)
  }

  private var isReading: Bool { !readers.isEmpty }

  private var readers: [Int32] {
    ProcessFile.threads(of: processID, limit: 64).filter {
      ProcessFile.bytes("\(processID)/task/\($0)/syscall", limit: 512)?.starts(with: "0 0x0 ".utf8) == true
    }
  }

  deinit {
    close(input)
    kill(processID, SIGKILL)
    waitpid(processID, nil, 0)
    Self.remove(directory)
  }

  private static func remove(_ directory: String) {
    for name in ["/p.c", "/p.go", "/p", "/p.debug", "/p-p.dwo", "/fm.py", "/fm.js", "/fm.sh", "/lib.sh", "/pipe", ""] {
      Glibc.remove(directory + name)
    }
  }

  /// Lets it go on, and waits until it does.
  func wake() {
    var byte: UInt8 = 1
    write(input, &byte, 1)
    while isReading { sched_yield() }
  }

  private static func start(_ words: [String], input: Int32?) throws -> Int32 {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    if let input { posix_spawn_file_actions_adddup2(&actions, input, 0) }
    var pointers: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) }
    defer { for pointer in pointers { free(pointer) } }
    pointers.append(nil)
    var process: Int32 = 0
    guard posix_spawnp(&process, words[0], &actions, nil, pointers, environ) == 0 else {
      throw Failure(what: words[0])
    }
    return process
  }
}
