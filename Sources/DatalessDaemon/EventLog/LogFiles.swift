import Glibc
import SystemPackage

/// Log files on disk: opening one, naming one, and keeping a default directory small.
enum LogFiles {
  /// Opens a log for appending; creates it with mode 0600. Holds a shared flock(2), by which `rotate` knows a log in
  /// use.
  ///
  /// - Throws: the errno of open(2).
  static func open(_ path: [UInt8]) throws(Errno) -> Int32 {
    let terminated = path.map { CChar(bitPattern: $0) } + [0]
    // For reading too: to see whether a file that exists ends with a whole line.
    var descriptor = Glibc.open(terminated, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0o600)
    if descriptor < 0, errno == EACCES {
      descriptor = Glibc.open(terminated, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0o600)
    }
    guard descriptor >= 0 else { throw Errno(rawValue: errno) }
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
  ///
  /// - Parameter keeping: how many of the newest stay, 20 by default.
  /// - Returns: how many were removed. A directory that cannot be read has nothing removed.
  @discardableResult
  static func rotate(directory: [UInt8], keeping: Int = 20) -> Int {
    let path = directory.map { CChar(bitPattern: $0) } + [0]
    guard let stream = opendir(path) else { return 0 }
    defer { closedir(stream) }
    let descriptor = dirfd(stream)
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if isDefaultName(name) { names.append(name) }
    }
    var removed = 0
    for name in names.sorted(by: >).dropFirst(max(keeping, 0)) where !isInUse(name, in: descriptor) {
      if unlinkat(descriptor, name, 0) == 0 { removed += 1 }
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

  private static func isInUse(_ name: String, in directory: Int32) -> Bool {
    let descriptor = openat(directory, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC)
    // Not to be opened: leave it alone.
    guard descriptor >= 0 else { return true }
    defer { close(descriptor) }
    return flock(descriptor, LOCK_EX | LOCK_NB) != 0
  }
}
