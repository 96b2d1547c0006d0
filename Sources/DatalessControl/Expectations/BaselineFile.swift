import CDatalessLinux
import Glibc
import SystemPackage

/// The file of a baseline.
public enum BaselineFile {
  /// - Parameters:
  ///   - isUpdate: Whether it is to be written anew: then it need not be there.
  /// - Throws: `ControlError.system` where it cannot be read, with ENOENT where it is not there; `.malformed` for what
  ///   is no baseline, with file, line and remedy.
  public static func read(_ path: [UInt8], isUpdate: Bool) throws(ControlError) -> Baseline {
    let name = TerminalText.escaped(path)
    let bytes: [UInt8]
    do throws(ControlError) {
      bytes = try readRegular(path, name)
    } catch  where error.errno == .noSuchFileOrDirectory {
      if isUpdate { return Baseline(empty: name, isUpdate: true) }
      throw ControlError.system(
        .noSuchFileOrDirectory, "there is no baseline \(name)",
        remedy: "Run once with --update-baseline, look at the file, and commit it.")
    }
    do throws(Baseline.Flaw) {
      return try Baseline(parsing: bytes, file: name, isUpdate: isUpdate)
    } catch {
      let place = error.line.map { "\(name):\($0): " } ?? "\(name): "
      throw ControlError(code: .malformed, message: place + error.message)
    }
  }

  /// Not waiting for what is a pipe.
  private static func readRegular(_ path: [UInt8], _ name: String) throws(ControlError) -> [UInt8] {
    guard !path.contains(0) else { throw ControlError.system(.invalidArgument, "cannot read the baseline \(name)") }
    let descriptor = named(path) { Glibc.open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) }
    guard descriptor >= 0 else { throw ControlError.system(Errno(rawValue: errno), "cannot read the baseline \(name)") }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { throw notRegular(name) }
    return try FileBytes.read(descriptor: descriptor, named: name, limit: Baseline.bytesMax)
  }

  /// Finds out whether a baseline can be written, as far as that is known before, and leaves nothing behind.
  ///
  /// - Throws: As `write`.
  public static func check(_ path: [UInt8]) throws(ControlError) {
    let name = TerminalText.escaped(path)
    let place = try place(of: path, name)
    defer { close(place.directory) }
    guard faccessat(place.directory, ".", W_OK | X_OK, AT_EACCESS) == 0 else { throw notWritten(name) }
  }

  /// Where a baseline goes.
  private struct Place {
    /// A descriptor, to be closed.
    var directory: CInt
    var last: [UInt8]
    /// The permissions of the file that is there; nil for none.
    var mode: mode_t?
  }

  private static func place(of path: [UInt8], _ name: String) throws(ControlError) -> Place {
    let last = PathBytes.lastComponent(path)
    guard !path.contains(0), !last.isEmpty, path.last != UInt8(ascii: "/") else {
      throw ControlError.system(.invalidArgument, "cannot write the baseline \(name)")
    }
    var folder = Array(path.dropLast(last.count))
    if folder.isEmpty { folder = [UInt8(ascii: ".")] }
    let directory = named(folder) { Glibc.open($0, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    guard directory >= 0 else { throw notWritten(name) }
    do throws(ControlError) {
      return Place(directory: directory, last: last, mode: try mode(of: last, in: directory, name))
    } catch {
      close(directory)
      throw error
    }
  }

  /// As errno says.
  private static func notWritten(_ name: String) -> ControlError {
    let errno = Errno(rawValue: errno)
    let remedy =
      switch errno {
      case .noSuchFileOrDirectory: "Make its directory first (mkdir -p)."
      case .noSpace, .diskQuotaExceeded: "Make room there, or name a file elsewhere."
      default: "Name a file that can be written."
      }
    return ControlError.system(errno, "cannot write the baseline \(name)", remedy: remedy)
  }

  /// Writes a baseline whole or not at all: what is there stays until all of the new one is on the disk. Never writes
  /// through a link, nor to anything but a regular file.
  ///
  /// - Throws: `ControlError.system`; ELOOP for a link, EINVAL for what is no file.
  public static func write(_ baseline: Baseline, to path: [UInt8]) throws(ControlError) {
    let name = TerminalText.escaped(path)
    let place = try place(of: path, name)
    let (directory, last) = (place.directory, place.last)
    defer { close(directory) }
    let temporary = Array(".dataless-baseline-\(String(UInt64.random(in: 0 ... .max), radix: 16))".utf8)
    let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | CLINUX_O_NOFOLLOW
    let descriptor = named(temporary) { openat(directory, $0, flags, 0o666) }
    guard descriptor >= 0 else { throw notWritten(name) }
    defer { close(descriptor) }
    if let mode = place.mode { _ = fchmod(descriptor, mode) }
    if let failure = DescriptorWrite.all(baseline.text, to: descriptor).failure {
      errno = failure.rawValue
    } else if fsync(descriptor) == 0,
      named(temporary, { temporary in named(last) { renameat(directory, temporary, directory, $0) } }) == 0
    {
      fsync(directory)
      return
    }
    let error = notWritten(name)
    _ = named(temporary) { unlinkat(directory, $0, 0) }
    throw error
  }

  /// The permissions of the file that is there; nil for none.
  private static func mode(of last: [UInt8], in directory: CInt, _ name: String) throws(ControlError) -> mode_t? {
    var status = stat()
    guard named(last, { fstatat(directory, $0, &status, AT_SYMLINK_NOFOLLOW) }) == 0 else { return nil }
    switch status.st_mode & S_IFMT {
    case S_IFREG: return status.st_mode & 0o777
    case S_IFLNK:
      throw ControlError.system(
        .tooManySymbolicLinkLevels, "cannot write the baseline \(name): it is a link",
        remedy: "Name the file itself.")
    default: throw notRegular(name)
    }
  }

  private static func notRegular(_ name: String) -> ControlError {
    ControlError.system(.invalidArgument, "\(name) is no file, so it can be no baseline", remedy: "Name a file.")
  }

  private static func named<Result>(_ path: [UInt8], _ body: (UnsafePointer<CChar>) -> Result) -> Result {
    body((path + [0]).map { CChar(bitPattern: $0) })
  }
}
