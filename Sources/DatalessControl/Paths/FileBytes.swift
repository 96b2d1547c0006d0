import Glibc
public import SystemPackage

/// Small files in one piece, through plain system calls.
public enum FileBytes {
  /// Reads a whole file.
  ///
  /// - Parameters:
  ///   - path: Bytes without NUL.
  ///   - limit: Fails with EFBIG beyond so many bytes. Default: 64 MiB, more than any file read this way has.
  /// - Throws: `ControlError.system` with the errno of open(2) or read(2); EINVAL for a NUL in the path.
  public static func read(_ path: [UInt8], limit: Int = 64 << 20) throws(ControlError) -> [UInt8] {
    let descriptor = try open(path)
    defer { close(descriptor) }
    return try read(descriptor: descriptor, named: TerminalText.escaped(path), limit: limit)
  }

  /// Reads an open file, a pipe or a socket to its end.
  ///
  /// - Parameter name: For messages, escaped.
  /// - Throws: as `read(_:limit:)`.
  public static func read(descriptor: CInt, named name: String, limit: Int) throws(ControlError) -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      let count = Glibc.read(descriptor, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else {
        throw ControlError.system(Errno(rawValue: errno), "cannot read \(name)")
      }
      if count == 0 { return bytes }
      bytes += buffer[0..<count]
      guard bytes.count <= limit else {
        throw ControlError.system(.fileTooLarge, "cannot read \(name)")
      }
    }
  }

  public static func read(_ path: String) throws(ControlError) -> [UInt8] { try read(Array(path.utf8)) }

  /// open(2) for reading, close-on-exec.
  ///
  /// - Parameter flags: Beside these.
  static func open(_ path: [UInt8], _ flags: CInt = 0) throws(ControlError) -> CInt {
    guard !path.contains(0) else {
      throw ControlError.system(.invalidArgument, "cannot open \(TerminalText.escaped(path))")
    }
    let descriptor = (path + [0]).withUnsafeBytes { bytes in
      Glibc.open(bytes.assumingMemoryBound(to: CChar.self).baseAddress!, O_RDONLY | O_CLOEXEC | flags)
    }
    guard descriptor >= 0 else {
      throw ControlError.system(Errno(rawValue: errno), "cannot open \(TerminalText.escaped(path))")
    }
    return descriptor
  }
}

extension FileBytes {
  /// Reads at most the last `bytes` bytes of a log; nothing where it cannot be positioned.
  ///
  /// - Throws: as `read`, and what `LogFile.openNamed` refuses; EISDIR.
  static func readTail(_ path: [UInt8], bytes limit: Int) throws(ControlError) -> [UInt8] {
    let descriptor = try LogFile.openNamed(path)
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) != 0 || status.st_mode & S_IFMT != S_IFDIR else {
      throw ControlError.system(.isDirectory, "cannot read \(TerminalText.escaped(path))")
    }
    let end = lseek(descriptor, 0, SEEK_END)
    guard end >= 0 else { return [] }
    lseek(descriptor, max(0, end - limit), SEEK_SET)
    var buffer = [UInt8](repeating: 0, count: min(limit, end))
    var used = 0
    while used < buffer.count {
      let count = buffer.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress! + used, $0.count - used) }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else {
        throw ControlError.system(Errno(rawValue: errno), "cannot read \(TerminalText.escaped(path))")
      }
      if count == 0 { break }
      used += count
    }
    return Array(buffer[0..<used])
  }
}

/// write(2) until everything is written.
public enum DescriptorWrite {
  /// The caller has SIGPIPE ignored or blocked.
  ///
  /// - Parameter waitsForRoom: Whether to wait where the descriptor is non-blocking and takes no more for now; else
  ///   that is EAGAIN.
  /// - Returns: How many bytes are written, and the errno that stopped it; nil when all are.
  public static func all(
    _ bytes: some Collection<UInt8>, to descriptor: CInt, waitsForRoom: Bool = false
  ) -> (count: Int, failure: Errno?) {
    let written = bytes.withContiguousStorageIfAvailable { buffer -> (count: Int, failure: Errno?) in
      var count = 0
      while count < buffer.count {
        let result = Glibc.write(descriptor, buffer.baseAddress! + count, buffer.count - count)
        let error = result == 0 ? EIO : errno
        if result > 0 {
          count += result
        } else if error == EAGAIN, waitsForRoom {
          var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
          _ = poll(&ready, 1, -1)
        } else if error != EINTR {
          return (count, Errno(rawValue: error))
        }
      }
      return (count, nil)
    }
    return written ?? all(Array(bytes), to: descriptor, waitsForRoom: waitsForRoom)
  }
}
