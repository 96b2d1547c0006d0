import Glibc

/// Reading and writing of whole messages on descriptors.
enum DescriptorIO {
  /// Writes everything; false at the first error. The caller has SIGPIPE ignored or blocked.
  static func write(_ bytes: [UInt8], to descriptor: CInt) -> Bool {
    var offset = 0
    while offset < bytes.count {
      let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress! + offset, $0.count - offset) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return false }
      offset += count
    }
    return true
  }

  /// One read(2) of at most `limit` bytes; empty at the end, nil on an error.
  static func readSome(_ descriptor: CInt, limit: Int = 65536) -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: limit)
    while true {
      let count = read(descriptor, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      return count < 0 ? nil : Array(buffer[0..<count])
    }
  }

  /// Reads up to and without the first line feed; nil when the other side ends or fails before.
  static func readLine(_ descriptor: CInt) -> [UInt8]? {
    var line: [UInt8] = []
    // Byte by byte after the first part would be slow, but what follows the line must stay in the pipe; a line is read
    // once per process.
    var byte: UInt8 = 0
    while true {
      let count = read(descriptor, &byte, 1)
      if count < 0, errno == EINTR { continue }
      guard count == 1 else { return nil }
      if byte == UInt8(ascii: "\n") { return line }
      line.append(byte)
    }
  }

  /// Waits until one of the descriptors is readable or at its end.
  ///
  /// - Returns: Those that are; empty when the time is up. EINTR counts as time not yet up.
  static func waitReadable(_ descriptors: [CInt], until deadline: Deadline?) -> [CInt] {
    var polls = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    while true {
      let count = poll(&polls, nfds_t(polls.count), deadline?.remaining ?? -1)
      if count < 0, errno == EINTR { continue }
      return count <= 0 ? [] : polls.filter { $0.revents != 0 }.map(\.fd)
    }
  }
}
