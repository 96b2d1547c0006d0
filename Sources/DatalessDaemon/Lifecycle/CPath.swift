import Glibc

/// Calls that take a path, for paths that are bytes.
enum CPath {
  /// Calls `body` with the path as a C string. Paths come from argv, readlink or the kernel and hold no NUL.
  static func with<Result>(_ path: [UInt8], _ body: (UnsafePointer<CChar>) -> Result) -> Result {
    (path + [0]).withUnsafeBytes { body($0.assumingMemoryBound(to: CChar.self).baseAddress!) }
  }

  /// stat(2), or lstat(2) with `follow` false. - Returns: The status, or the errno.
  static func status(_ path: [UInt8], follow: Bool = true) -> Result<stat, ErrnoFailure> {
    var result = stat()
    let code = with(path) { follow ? stat($0, &result) : lstat($0, &result) }
    return code == 0 ? .success(result) : .failure(ErrnoFailure(number: errno))
  }

  /// The part before the last slash; `/` for a name directly below the root.
  static func parent(_ path: [UInt8]) -> [UInt8] {
    guard let slash = path.lastIndex(of: UInt8(ascii: "/")), slash > 0 else { return [UInt8(ascii: "/")] }
    return Array(path[..<slash])
  }

  /// The names in a directory, without `.` and `..`; at most `limit`. nil when it cannot be read.
  static func names(in path: [UInt8], limit: Int = .max) -> [[UInt8]]? {
    guard let directory = with(path, { opendir($0) }) else { return nil }
    defer { closedir(directory) }
    var names: [[UInt8]] = []
    while names.count < limit, let entry = readdir(directory) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
      if name != [0x2e] && name != [0x2e, 0x2e] { names.append(name) }
    }
    return names
  }
}

/// An errno on its way to a message.
struct ErrnoFailure: Error, Equatable {
  let number: CInt
}

/// A NULL-terminated array of C strings, as exec takes it.
enum CStringArray {
  /// Calls `body` with the strings; they live as long as the call. A string ends at its first NUL.
  static func with<Result>(
    _ strings: [[UInt8]], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
  ) -> Result {
    var pointers: [UnsafeMutablePointer<CChar>?] = strings.map { bytes in
      let copy = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count + 1)
      for (index, byte) in bytes.enumerated() { copy[index] = CChar(bitPattern: byte) }
      copy[bytes.count] = 0
      return copy
    }
    defer { for pointer in pointers { pointer?.deallocate() } }
    pointers.append(nil)
    return pointers.withUnsafeBufferPointer { body($0.baseAddress!) }
  }
}
