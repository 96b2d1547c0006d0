internal import CDatalessLinux
internal import Glibc
internal import SystemPackage

/// System calls as the stores use them: typed errors, EINTR retried where the call may be repeated, and never a
/// symbolic link followed.
enum SystemCall {
  /// PATH_MAX, the terminating NUL included: the kernel takes no longer path in one call.
  static let maximumPathLength = 4096

  /// Turns the answer of a `clinux_` function into a value or an error.
  @inline(__always)
  static func check(_ result: Int) throws(Errno) -> Int {
    if result < 0 { throw Errno(rawValue: CInt(truncatingIfNeeded: -result)) }
    return result
  }

  /// Calls `body` with the bytes of `path` as a C string.
  ///
  /// - Throws: EINVAL if a NUL is in it, which no name from a kernel can hold; what `body` throws.
  @inline(__always)
  static func withPath<Result>(
    _ path: ArraySlice<UInt8>, _ body: (UnsafePointer<CChar>) throws(Errno) -> Result
  ) throws(Errno) -> Result {
    if path.contains(0) { throw .invalidArgument }
    // A path of the root itself is the directory that the call starts from.
    let bytes: [UInt8] = path.isEmpty ? [UInt8(ascii: "."), 0] : path + [0]
    // The closure's error is carried as a value: `withUnsafeBufferPointer` forwards typed errors only when inlined.
    let outcome: Swift.Result<Result, Errno> = bytes.withUnsafeBufferPointer { buffer in
      buffer.withMemoryRebound(to: CChar.self) { text in
        do throws(Errno) { return .success(try body(text.baseAddress!)) } catch { return .failure(error) }
      }
    }
    return try outcome.get()
  }

  /// openat2(2) that stays below `directory` and resolves no symbolic link in any component.
  ///
  /// A path of PATH_MAX bytes or more is walked in steps. O_NOFOLLOW and O_CLOEXEC are always set.
  ///
  /// - Parameter crossMounts: Whether other mounts below `directory` may be entered.
  /// - Throws: ELOOP (a component is a symbolic link), EXDEV (another mount), and what open(2) says.
  static func openBeneath(
    _ directory: CInt, _ path: [UInt8], flags: CInt, crossMounts: Bool
  ) throws(Errno) -> OwnedDescriptor {
    var rest = path[...]
    var start = directory
    // Keeps the last step open while the next one starts from it.
    var step = OwnedDescriptor?.none
    while rest.count >= maximumPathLength {
      // The limit is a byte position; the cut is the last slash before it, there because a name has at most 255 bytes.
      guard let cut = rest.prefix(maximumPathLength - 1).lastIndex(of: UInt8(ascii: "/")) else {
        throw .fileNameTooLong
      }
      let next = try openOnce(
        start, rest[..<cut], flags: CLINUX_O_PATH | CLINUX_O_DIRECTORY, crossMounts: crossMounts)
      start = next.raw
      step = consume next
      rest = rest[(cut + 1)...]
    }
    let opened = try openOnce(start, rest, flags: flags, crossMounts: crossMounts)
    _ = consume step
    return opened
  }

  private static func openOnce(
    _ directory: CInt, _ path: ArraySlice<UInt8>, flags: CInt, crossMounts: Bool
  ) throws(Errno) -> OwnedDescriptor {
    let all = UInt64(UInt32(bitPattern: flags | CLINUX_O_NOFOLLOW | CLINUX_O_CLOEXEC))
    var resolve = CLINUX_RESOLVE_BENEATH | CLINUX_RESOLVE_NO_SYMLINKS | CLINUX_RESOLVE_NO_MAGICLINKS
    if !crossMounts { resolve |= CLINUX_RESOLVE_NO_XDEV }
    // EAGAIN means that a rename elsewhere raced with the walk and the kernel could not tell whether it stayed below.
    var attempts = 0
    while true {
      do {
        let descriptor = try withPath(path) { (text) throws(Errno) in
          try check(clinux_openat2(directory, text, all, 0, resolve))
        }
        return OwnedDescriptor(CInt(descriptor))
      } catch {
        attempts += 1
        guard error == .interrupted || (error == .resourceTemporarilyUnavailable && attempts < 100) else { throw error }
      }
    }
  }

  /// pread(2) until `buffer` is full or the file ends.
  static func read(
    _ descriptor: CInt, into buffer: UnsafeMutableRawBufferPointer, at offset: Int64
  ) throws(Errno) -> Int {
    var done = 0
    while done < buffer.count {
      let count = pread(descriptor, buffer.baseAddress! + done, buffer.count - done, off_t(offset) + done)
      if count < 0 {
        let error = errno
        if error == EINTR { continue }
        throw Errno(rawValue: error)
      }
      if count == 0 { break }
      done += count
    }
    return done
  }

  /// pwrite(2) until all of `buffer` is written, or no more can be.
  ///
  /// - Returns: How many bytes were written. - Throws: Why none was.
  static func writeSome(_ descriptor: CInt, _ buffer: UnsafeRawBufferPointer, at offset: Int64) throws(Errno) -> Int {
    var done = 0
    while done < buffer.count {
      let count = pwrite(descriptor, buffer.baseAddress! + done, buffer.count - done, off_t(offset) + done)
      if count > 0 {
        done += count
        continue
      }
      let error = errno
      if count < 0, error == EINTR { continue }
      if done == 0 { throw count < 0 ? Errno(rawValue: error) : .ioError }
      break
    }
    return done
  }

  /// pwrite(2) until all of `buffer` is written.
  static func write(_ descriptor: CInt, _ buffer: UnsafeRawBufferPointer, at offset: Int64) throws(Errno) {
    var done = 0
    while done < buffer.count {
      let count = pwrite(descriptor, buffer.baseAddress! + done, buffer.count - done, off_t(offset) + done)
      if count < 0 {
        let error = errno
        if error == EINTR { continue }
        throw Errno(rawValue: error)
      }
      // POSIX allows it for nothing but a count of zero; a loop would never end.
      if count == 0 { throw .ioError }
      done += count
    }
  }

  /// fdatasync(2): content, and the size with it.
  static func syncData(_ descriptor: CInt) throws(Errno) {
    while fdatasync(descriptor) != 0 {
      let error = errno
      if error != EINTR { throw Errno(rawValue: error) }
    }
  }

  /// fsync(2): of a directory, its names.
  static func sync(_ descriptor: CInt) throws(Errno) {
    while fsync(descriptor) != 0 {
      let error = errno
      if error != EINTR { throw Errno(rawValue: error) }
    }
  }

  /// lseek(2) with SEEK_DATA or SEEK_HOLE.
  ///
  /// - Throws: ENXIO (no further data), EINVAL or EOPNOTSUPP (the file system cannot tell).
  static func seek(_ descriptor: CInt, _ offset: Int64, hole: Bool) throws(Errno) -> Int64 {
    let found = lseek(descriptor, off_t(offset), hole ? CLINUX_SEEK_HOLE : CLINUX_SEEK_DATA)
    let error = errno
    if found < 0 { throw Errno(rawValue: error) }
    return Int64(found)
  }
}

/// A file descriptor with one owner: closed when the owner goes, never twice.
struct OwnedDescriptor: ~Copyable, Sendable {
  let raw: CInt

  init(_ raw: CInt) { self.raw = raw }

  deinit { _ = Glibc.close(raw) }

  /// Gives the descriptor away; nothing is closed here any more.
  consuming func release() -> CInt {
    let raw = self.raw
    discard self
    return raw
  }

  /// Closes now and says what close(2) said: a network file system or a quota reports a failed write only here.
  consuming func close() throws(Errno) {
    let result = Glibc.close(raw)
    let error = errno
    discard self
    if result != 0 && error != EINTR { throw Errno(rawValue: error) }
  }
}
