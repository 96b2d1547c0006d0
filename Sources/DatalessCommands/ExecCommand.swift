import ArgumentParser
import CDataless
import DatalessControl
import DatalessCore
import Glibc
import SystemPackage

/// `dataless exec`: starts a command that may, or may not, materialize.
struct ExecCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "exec",
    abstract: "Run a command whose reads may, or may not, materialize.",
    usage: "dataless exec --materialize off|on|default -- <command> ...",
    discussion: """
      Sets the materialization policy of this process and becomes the command. What the command starts inherits it; it \
      holds on every volume. off: what would materialize fails at once with EDEADLK. on: it waits for the content. \
      default: as if nothing had been set, which is up to each volume. A thread that sets a policy of its own \
      (setiopolicy_np) goes by that one. It is a simulation, not access control.

      EXAMPLES
        dataless exec --materialize off -- grep -r needle /mnt/project
        dataless exec --materialize default -- sh

      EXIT STATUS
        The command's own; 125 dataless itself failed; 126 the command cannot be executed; 127 it was not found.
      """)

  enum Policy: String, ExpressibleByArgument, CaseIterable {
    case off, on
    case unset = "default"
  }

  @Option(help: ArgumentHelp("What the command may do: off, on or default.", valueName: "policy"))
  var materialize: Policy

  @Flag(help: "Write what fails before the command runs as JSON to standard output. [default: text only]")
  var json = false

  @Argument(
    parsing: .postTerminator,
    help: ArgumentHelp("The command and its arguments, after --.", valueName: "command"))
  var command: [String]

  func validate() throws {
    if command.isEmpty { throw ValidationError("the command is missing: put it after --, as in -- cat file.") }
  }

  func run() throws {
    if let number = Self.set(materialize) {
      let remedy = number == .notPermitted ? " Raise the hard limit of file locks, as root: ulimit -x unlimited." : ""
      throw CommandFailure(
        "cannot set the materialization policy: \(number.description) (\(number.name)).\(remedy)", status: .runFailed,
        errno: number)
    }
    let program = ArgumentBytes.decode(command[0])
    let number = Self.execute(command.map { ArgumentBytes.decode($0) })
    throw CommandFailure(
      RunReport.notStarted(program, errno: number), status: number == ENOENT ? .notFound : .notExecutable,
      errno: Errno(rawValue: number))
  }

  /// - Returns: nil when it is set.
  private static func set(_ policy: Policy) -> Errno? {
    if policy == .unset { return restoreLimit() }
    let value = policy == .off ? IOPOL_MATERIALIZE_DATALESS_FILES_OFF : IOPOL_MATERIALIZE_DATALESS_FILES_ON
    let result = setiopolicy_np(IOPOL_TYPE_VFS_MATERIALIZE_DATALESS_FILES, IOPOL_SCOPE_PROCESS, value)
    return result == 0 ? nil : Errno(rawValue: errno)
  }

  /// The library cannot take a process' policy away, because macOS cannot: DEFAULT means OFF there.
  private static func restoreLimit() -> Errno? {
    let resource = __rlimit_resource_t(UInt32(CDATALESS_RLIMIT_LOCKS))
    var limits = rlimit()
    guard getrlimit(resource, &limits) == 0 else { return Errno(rawValue: errno) }
    limits.rlim_cur = limits.rlim_max
    return setrlimit(resource, &limits) == 0 ? nil : Errno(rawValue: errno)
  }

  /// execvp(3), which does not return if it succeeds.
  static func execute(_ arguments: [[UInt8]]) -> Int32 {
    // Given back by exec, or by the end of this process.
    var pointers: [UnsafeMutablePointer<CChar>?] = arguments.map { bytes in
      strdup(bytes.map { CChar(bitPattern: $0) } + [0])
    }
    pointers.append(nil)
    InheritedSignals.giveBack()
    execvp(pointers[0]!, pointers)
    return errno
  }
}
