import CDatalessLinux
import DatalessControl
import Glibc
import SystemPackage

/// Log files on disk: opening one, naming one, and keeping a default directory small.
enum LogFiles {
  /// Opens a log for appending; creates it with mode 0600. Holds a shared flock(2), by which `rotate` knows a log in
  /// use.
  ///
  /// The path may lead through directories of other users, who can put anything in its place. So no symbolic link is
  /// followed (those of root and this user are resolved before), nothing is waited for, and a file that is there
  /// already has to be a regular one, this user's, with one name.
  ///
  /// - Throws: the errno of open(2); ELOOP for a link, EINVAL for no regular file, EPERM for another user's, EMLINK for
  ///   a file with several names.
  static func open(_ path: [UInt8]) throws(Errno) -> Int32 {
    let created = openOnce(path, O_RDWR | O_CREAT | O_EXCL)
    if created >= 0 { return locked(CInt(created)) }
    guard created == -Int(EEXIST) else { throw Errno(rawValue: CInt(-created)) }
    // For reading too: to see whether a file that exists ends with a whole line.
    var opened = openOnce(path, O_RDWR)
    if opened == -Int(EACCES) { opened = openOnce(path, O_WRONLY) }
    guard opened >= 0 else { throw Errno(rawValue: CInt(-opened)) }
    let descriptor = CInt(opened)
    var status = stat()
    let failure: Errno? =
      if fstat(descriptor, &status) != 0 {
        Errno(rawValue: errno)
      } else if status.st_mode & S_IFMT != S_IFREG {
        .invalidArgument
      } else if status.st_uid != geteuid() {
        .notPermitted
      } else {
        status.st_nlink > 1 ? .tooManyLinks : nil
      }
    if let failure {
      close(descriptor)
      throw failure
    }
    return locked(descriptor)
  }

  private static func openOnce(_ path: [UInt8], _ flags: CInt) -> Int {
    let all = flags | O_APPEND | O_NONBLOCK | O_CLOEXEC | O_NOCTTY | CLINUX_O_NOFOLLOW
    let resolve = CLINUX_RESOLVE_NO_SYMLINKS | CLINUX_RESOLVE_NO_MAGICLINKS
    return CPath.with(path) {
      clinux_openat2(
        CLINUX_AT_FDCWD, $0, UInt64(UInt32(bitPattern: all)), flags & O_CREAT != 0 ? 0o600 : 0, resolve)
    }
  }

  private static func locked(_ descriptor: CInt) -> CInt {
    _ = flock(descriptor, LOCK_SH | LOCK_NB)
    return descriptor
  }

  /// `20260102T030405Z-<session>.jsonl`: names sort by time.
  ///
  /// - Parameter now: seconds since 1970 in UTC.
  static func defaultName(session: String, now: Int) -> String {
    var time = time_t(now)
    var parts = tm()
    gmtime_r(&time, &parts)
    func padded(_ value: Int32, _ digits: Int) -> String {
      let text = String(value)
      return String(repeating: "0", count: max(0, digits - text.count)) + text
    }
    let date = padded(parts.tm_year + 1900, 4) + padded(parts.tm_mon + 1, 2) + padded(parts.tm_mday, 2)
    let clock = padded(parts.tm_hour, 2) + padded(parts.tm_min, 2) + padded(parts.tm_sec, 2)
    return "\(date)T\(clock)Z-\(session).jsonl"
  }

  /// Removes the oldest logs of a default directory. Files with other names, and logs that a daemon still writes, stay.
  /// Nothing happens in a directory that is not this user's alone.
  ///
  /// - Parameter keeping: how many of the newest stay, 20 by default.
  /// - Returns: how many were removed. A directory that cannot be read has nothing removed.
  @discardableResult
  static func rotate(directory: [UInt8], keeping: Int = 20) -> Int {
    guard let trusted = try? TrustedDirectory.open(directory, ancestors: .any), let all = try? trusted.names() else {
      return 0
    }
    let names = all.map { String(decoding: $0, as: UTF8.self) }.filter { isDefaultName($0) }
    var removed = 0
    for name in names.sorted(by: >).dropFirst(max(keeping, 0)) where !isInUse(name, in: trusted) {
      if trusted.unlink(Array(name.utf8)) == 0 { removed += 1 }
    }
    return removed
  }

  static func isDefaultName(_ name: String) -> Bool {
    let bytes = Array(name.utf8)
    guard bytes.count == 35, name.hasSuffix(".jsonl"), bytes[8] == UInt8(ascii: "T"), bytes[15] == UInt8(ascii: "Z"),
      bytes[16] == UInt8(ascii: "-")
    else { return false }
    let isDigit = { (byte: UInt8) in (48...57).contains(byte) }
    return bytes[..<8].allSatisfy(isDigit) && bytes[9..<15].allSatisfy(isDigit)
      && bytes[17..<29].allSatisfy { isDigit($0) || (97...102).contains($0) }
  }

  private static func isInUse(_ name: String, in directory: TrustedDirectory) -> Bool {
    // Not a file of ours, or not to be opened: leave it alone.
    guard let descriptor = try? directory.file(Array(name.utf8), O_RDONLY) else { return true }
    defer { close(descriptor) }
    return flock(descriptor, LOCK_EX | LOCK_NB) != 0
  }
}
