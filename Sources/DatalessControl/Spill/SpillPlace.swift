import CDatalessLinux
import Glibc
import Synchronization
import SystemPackage

/// How much of a table or a map stays in memory, and where the rest goes.
struct SpillLimits: Sendable {
  /// Rows of one segment of a table, as the power of two: rows are put aside a segment at a time.
  var segmentBits = 12
  /// Segments of a table that stay in memory, the newest ones. At least 1.
  var segments = 64
  /// Entries of a map that stay in memory. At least 1.
  var entries = 262_144
  /// Entries of a file of a map that are read at once to find one. At least 1.
  var blockEntries = 340
  /// Blocks of such a file of which the first key is in memory; with more, a block is larger. At least 1.
  var blocks = 65_536
  /// Bytes of the filter in front of such a file. At least 8.
  var filterBytes = 4 << 20
  /// nil: all stays in memory.
  var place: SpillPlace?

  /// Nothing is put aside.
  static var inMemory: SpillLimits { SpillLimits(place: nil) }
  /// What does not fit is put into files of a place of its own.
  static var standard: SpillLimits { SpillLimits(place: SpillPlace()) }
}

/// Where a reading of a log puts what does not fit into memory: files without a name in a directory for temporary
/// files.
///
/// Whoever cannot write goes on in memory: right results matter more than memory. Whoever cannot read what was written
/// has none: `failure` says so, and is for ever.
final class SpillPlace: Sendable {
  private let directories: [String]
  private let bytesMax: Int
  private let firstFailure = Mutex<ControlError?>(nil)

  /// - Parameters:
  ///   - directories: The first one that takes a file is used. Default: $TMPDIR alone, if it is an absolute path, else
  ///     /var/tmp and /tmp. The latter comes last, as it is often memory itself.
  ///   - bytesMax: No file becomes larger. Default: what the limit of this process is (RLIMIT_FSIZE), beyond which a
  ///     write would end it with SIGXFSZ.
  init(directories: [String]? = nil, bytesMax: Int? = nil) {
    self.directories = directories ?? Self.standard
    self.bytesMax = bytesMax ?? Self.sizeLimit
  }

  /// The first time that something could not be read again; what was made of it since then is not right.
  var failure: ControlError? { firstFailure.withLock { $0 } }

  /// - Returns: A new file without a name; nil where none can be made.
  func open() -> SpillFile? {
    for directory in directories {
      // O_EXCL: nobody can give it a name afterwards.
      let flags = O_RDWR | O_EXCL | CLINUX_O_TMPFILE | CLINUX_O_CLOEXEC
      var result = -Int(EINTR)
      while result == -Int(EINTR) { result = clinux_openat(CLINUX_AT_FDCWD, directory, flags, 0o600) }
      guard let descriptor = CInt(exactly: result), descriptor >= 0 else { continue }
      return SpillFile(descriptor: descriptor, bytesMax: bytesMax) { [self] in fail($0, in: directory) }
    }
    return nil
  }

  private func fail(_ errno: Errno, in directory: String) {
    let error = ControlError.system(
      errno, "cannot read what did not fit into memory and was put into \(TerminalText.escaped(directory))",
      remedy: "Set TMPDIR to a directory on another disk.")
    firstFailure.withLock { $0 = $0 ?? error }
  }

  private static var standard: [String] {
    guard let named = getenv("TMPDIR").map({ String(cString: $0) }), named.hasPrefix("/") else {
      return ["/var/tmp", "/tmp"]
    }
    return [named]
  }

  private static var sizeLimit: Int {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0 else { return .max }
    return Int(clamping: limit.rlim_cur)
  }
}
