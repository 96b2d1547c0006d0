import DatalessControl
import Glibc

/// Reading and writing of whole messages on descriptors.
enum DescriptorIO {
  /// Writes everything; false at the first error. The caller has SIGPIPE ignored or blocked.
  static func write(_ bytes: [UInt8], to descriptor: CInt) -> Bool {
    DescriptorWrite.all(bytes, to: descriptor).failure == nil
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

  /// Reads a line that nothing follows until it is answered, without its line feed.
  ///
  /// - Returns: nil when the other side ends or fails before the line does, or sends more.
  static func readLine(_ descriptor: CInt) -> [UInt8]? {
    var line: [UInt8] = []
    while let part = readSome(descriptor), !part.isEmpty {
      line += part
      guard let end = part.firstIndex(of: UInt8(ascii: "\n")) else { continue }
      guard end == part.count - 1 else { return nil }
      line.removeLast()
      return line
    }
    return nil
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

/// A pipe whose ends are close-on-exec and above the descriptors that a child is given.
struct Pipe {
  let readEnd: CInt
  let writeEnd: CInt

  /// - Throws: `LifecycleError` when there are too many open files.
  init() throws(LifecycleError) {
    var ends: [CInt] = [-1, -1]
    guard pipe(&ends) == 0 else { throw Self.failure(errno) }
    // Moved up: dup2 to a child's descriptor must neither meet its own source nor another pipe's end.
    readEnd = fcntl(ends[0], F_DUPFD_CLOEXEC, 16)
    writeEnd = fcntl(ends[1], F_DUPFD_CLOEXEC, 16)
    let number = errno
    close(ends[0])
    close(ends[1])
    guard readEnd >= 0, writeEnd >= 0 else { throw Self.failure(number) }
  }

  private static func failure(_ number: CInt) -> LifecycleError {
    LifecycleError("cannot make a pipe: \(ErrorText.reason(number)). Raise the limit of open files (ulimit -n).")
  }
}

/// How many descriptors this process may have (RLIMIT_NOFILE).
enum DescriptorLimit {
  /// Takes as many as the system allows: the usual 1,024 are for programs that use select(2), which nothing here does.
  ///
  /// - Returns: How many that are.
  @discardableResult
  static func raise() -> Int {
    var limit = rlimit()
    let descriptors = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    guard getrlimit(descriptors, &limit) == 0 else { return 1024 }
    guard limit.rlim_cur < limit.rlim_max else { return Int(clamping: limit.rlim_cur) }
    let before = limit.rlim_cur
    limit.rlim_cur = limit.rlim_max
    return Int(clamping: setrlimit(descriptors, &limit) == 0 ? limit.rlim_max : before)
  }
}
