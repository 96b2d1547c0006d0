import Glibc

/// This program started again, in the background, with a pipe in each direction and its words on a third one.
///
/// The child has the ordinary descriptors only: 0 and 1 are /dev/null, 2 is the pipe of its words, 3 is what it reads,
/// 4 is what it writes; whatever else was inherited it closes itself (`InternalEntryPoint`). It begins with SIGINT,
/// SIGTERM and SIGHUP blocked, so that none of them can end it before it looks after them.
struct HelperProcess {
  /// How the child knows what it was started for.
  static let variable = "DATALESS_HELPER"
  static let inputDescriptor: CInt = 3
  static let outputDescriptor: CInt = 4
  /// Tells a daemon that it may go on without its launcher.
  static let detachByte = UInt8(ascii: "d")

  let pid: pid_t
  /// Written by us, read by the child; the child sees the end when this, the only copy, is closed.
  let input: CInt
  /// Written by the child.
  let output: CInt
  /// The child's standard error.
  let words: CInt

  /// Starts a helper.
  ///
  /// - Parameters:
  ///   - role: The value of `variable` in the child.
  ///   - executable: Default: this program.
  ///   - arguments: What `ps` shows, the program's name first; for our own program otherwise without meaning.
  /// - Throws: `LifecycleError` when a pipe or the process cannot be made.
  static func spawn(
    role: String, executable: [UInt8] = HelperProcess.ownExecutable(), arguments: [[UInt8]]
  ) throws(LifecycleError) -> HelperProcess {
    let input = try Pipe()
    let output = try Pipe()
    let words = try Pipe()
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, words.writeEnd, 2)
    posix_spawn_file_actions_adddup2(&actions, input.readEnd, inputDescriptor)
    posix_spawn_file_actions_adddup2(&actions, output.writeEnd, outputDescriptor)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var blocked = SignalSet.ending
    var defaults = SignalSet.ending
    sigaddset(&defaults, SIGPIPE)
    sigaddset(&defaults, SIGCHLD)
    posix_spawnattr_setsigmask(&attributes, &blocked)
    posix_spawnattr_setsigdefault(&attributes, &defaults)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    var pid: pid_t = 0
    let result = CStringArray.with(arguments) { argv in
      CStringArray.with(environment(role: role)) { environment in
        CPath.with(executable) { posix_spawn(&pid, $0, &actions, &attributes, argv, environment) }
      }
    }
    close(input.readEnd)
    close(output.writeEnd)
    close(words.writeEnd)
    guard result == 0 else {
      for descriptor in [input.writeEnd, output.readEnd, words.readEnd] { close(descriptor) }
      throw LifecycleError(
        "cannot start this program again: \(ErrorText.reason(result)). Check that its file is still in place.")
    }
    return HelperProcess(pid: pid, input: input.writeEnd, output: output.readEnd, words: words.readEnd)
  }

  /// Sends bytes to the child; false when it does not read any more.
  func send(_ bytes: [UInt8]) -> Bool { DescriptorIO.write(bytes, to: input) }

  /// Closes our ends of the three pipes. A daemon that was not told to go on alone ends by that.
  func closePipes() {
    for descriptor in [input, output, words] { close(descriptor) }
  }

  /// Ends the child at once and does not wait: it may be stuck in the kernel, on a SOURCE that hangs.
  func abandon() {
    kill(pid, SIGKILL)
    var status: CInt = 0
    waitpid(pid, &status, WNOHANG)
  }

  /// Path of the running program; works for a deleted file too, through its link in /proc.
  static func ownExecutable() -> [UInt8] {
    let link = "/proc/self/exe"
    let path = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 4096) { buffer -> [UInt8] in
      let count = readlink(link, buffer.baseAddress!, buffer.count)
      return count > 0 ? buffer[0..<count].map { UInt8(bitPattern: $0) } : []
    }
    return !path.isEmpty && CPath.with(path, { access($0, X_OK) }) == 0 ? path : Array(link.utf8)
  }

  /// Our environment, with the role. A crashing daemon must not linger to print a backtrace while it holds /dev/fuse
  /// open and every caller waits: Swift's backtracer is off in it, unless the user chose otherwise.
  private static func environment(role: String) -> [[UInt8]] {
    var result: [[UInt8]] = []
    var hasBacktrace = false
    var next = environ
    while let entry = next.pointee {
      let bytes = Array(UnsafeBufferPointer(start: entry, count: strlen(entry))).map { UInt8(bitPattern: $0) }
      hasBacktrace = hasBacktrace || bytes.starts(with: Array("SWIFT_BACKTRACE=".utf8))
      if !bytes.starts(with: Array("\(variable)=".utf8)) { result.append(bytes) }
      next += 1
    }
    if !hasBacktrace { result.append(Array("SWIFT_BACKTRACE=enable=no".utf8)) }
    return result + [Array("\(variable)=\(role)".utf8)]
  }
}
