import CDatalessLinux
import Glibc

/// What a command is started with: by clone and exec here, so that it gets the signals that we were given ourselves.
struct CommandStart {
  /// Program and arguments; the program is looked for in $PATH.
  var arguments: [[UInt8]]
  /// `NAME=value`, all of them.
  var environment: [[UInt8]]
  /// The signals that it has blocked.
  var mask = sigset_t()
  /// Those that it has by default, and those that it ignores; others are as they are in this process.
  var defaults: [CInt] = []
  var ignored: [CInt] = []
  /// What becomes its standard output; nil for our own.
  var output: CInt?
  /// A descriptor that must not live in the child while exec waits for the program's content; nil for none.
  var closed: CInt?

  /// A child that is about to execute the command.
  struct Started {
    let pid: pid_t
    /// The reading end of the pipe that its exec closes.
    fileprivate let failures: CInt

    /// Waits until the command runs, however long the content of its program takes.
    ///
    /// - Returns: nil then; the errno if it cannot be executed: the child ends by itself.
    func waitUntilExecuted() -> CInt? {
      defer { close(failures) }
      guard let bytes = DescriptorIO.readSome(failures, limit: 4), bytes.count == 4 else { return nil }
      return bytes.withUnsafeBytes { $0.loadUnaligned(as: Int32.self) }
    }
  }

  /// - Throws: `ErrnoFailure` when there is no room for a pipe or a process.
  func start() throws(ErrnoFailure) -> Started {
    guard let pipe = try? Pipe() else { throw ErrnoFailure(number: EMFILE) }
    defer { close(pipe.writeEnd) }
    let pid = CStringArray.with(paths) { paths in
      CStringArray.with(arguments) { argv in
        CStringArray.with(environment) { environment in
          var command = clinux_command(
            paths: paths, arguments: argv, environment: environment, blocked_signals: Self.bits(mask),
            default_signals: Self.bits(SignalSet.of(defaults)), ignored_signals: Self.bits(SignalSet.of(ignored)),
            output: output ?? -1, closed: closed ?? -1)
          return clinux_start(&command, pipe.writeEnd)
        }
      }
    }
    guard pid > 0 else {
      close(pipe.readEnd)
      throw ErrnoFailure(number: CInt(-pid))
    }
    return Started(pid: pid_t(pid), failures: pipe.readEnd)
  }

  /// Where execvp(3) would look for the program, in this order.
  private var paths: [[UInt8]] {
    let slash = UInt8(ascii: "/")
    guard let program = arguments.first, !program.isEmpty else { return [] }
    if program.contains(slash) { return [program] }
    let search = getenv("PATH").map { Array(UnsafeBufferPointer(start: $0, count: strlen($0))) }
    let directories = search?.map { UInt8(bitPattern: $0) } ?? Array("/bin:/usr/bin".utf8)
    return directories.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false).map { directory in
      directory.isEmpty ? program : directory + [slash] + program
    }
  }

  /// The kernel's form of a set: bit 0 is signal 1.
  private static func bits(_ set: sigset_t) -> UInt64 {
    withUnsafeBytes(of: set) { $0.load(as: UInt64.self) }
  }
}

/// The replacement of `{}` in the arguments of a command.
public enum PlaceholderSubstitution {
  /// Replaces every occurrence of `placeholder`, also inside an argument and in the program's own name.
  ///
  /// - Parameter placeholder: Not empty. Occurrences do not overlap; the leftmost counts.
  public static func replace(_ placeholder: [UInt8], in arguments: [[UInt8]], with replacement: [UInt8]) -> [[UInt8]] {
    arguments.map { argument in
      var result: [UInt8] = []
      var rest = argument[...]
      while rest.count >= placeholder.count {
        if rest.starts(with: placeholder) {
          result += replacement
          rest = rest.dropFirst(placeholder.count)
        } else {
          result.append(rest.removeFirst())
        }
      }
      return result + rest
    }
  }
}
