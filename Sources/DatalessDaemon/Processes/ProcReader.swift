import CDatalessLinux
import Glibc

/// Reads small files of /proc with raw system calls into the caller's buffer.
///
/// Only `stat`, `status`, `comm`, `exe`, `cgroup`, `ns/user`, `syscall`, the list in `task`, links in `fd`, and
/// `fdinfo` of files of the volume may be read on a request thread. `cmdline`, `environ` and memory take a lock of the
/// process that it may hold while it waits for our reply: a deadlock for good. So may `fdinfo` of anything else, as of
/// epoll(7).
enum ProcReader {
  // Opened once: shorter lookups, and no surprise if something is mounted over /proc later. -1 makes every read fail.
  private static let root = Glibc.open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC)

  /// Reads /proc/`id`/`name` with one read(2); `id` may be a thread's. seq files answer whole if they fit.
  ///
  /// - Returns: the bytes read, or the errno as a negative number: -ENOENT or -ESRCH when there is no such thread.
  static func read(_ id: Int32, _ name: StaticString, into buffer: UnsafeMutableBufferPointer<UInt8>) -> Int {
    withPath(id, file: name) { read($0, into: buffer) }
  }

  /// Reads /proc/`id`/task/`id`/stat: /proc/`id`/stat adds up the times of all threads of the process first, a
  /// millisecond with 8,000 of them.
  static func readStat(_ id: Int32, into buffer: UnsafeMutableBufferPointer<UInt8>) -> Int {
    withPath(id, file: "stat", inTask: true) { read($0, into: buffer) }
  }

  /// A descriptor of /proc/`id`/`name`, to be read again and again; it stays with this thread, and the caller closes
  /// it.
  ///
  /// - Returns: -1 on any failure.
  static func open(_ id: Int32, _ name: StaticString) -> Int32 {
    withPath(id, file: name) { openat(root, $0, O_RDONLY | O_CLOEXEC) }
  }

  private static func read(_ path: UnsafePointer<CChar>, into buffer: UnsafeMutableBufferPointer<UInt8>) -> Int {
    let descriptor = openat(root, path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return -Int(errno) }
    defer { close(descriptor) }
    let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
    return count >= 0 ? count : -Int(errno)
  }

  /// readlink(2) of /proc/`id`/exe, which does not follow it: the executable may lie on our own volume. One that has
  /// lost its name has the path that it had.
  ///
  /// - Returns: the bytes of the path, `buffer.count` if it did not fit; or the errno as a negative number.
  static func readExecutable(_ id: Int32, into buffer: UnsafeMutableBufferPointer<UInt8>) -> Int {
    withPath(id, file: "exe") { path in
      let count = readlinkat(root, path, buffer.baseAddress!, buffer.count)
      guard count >= 0 else { return -Int(errno) }
      // One that did not fit may end otherwise.
      guard count < buffer.count else { return count }
      return ExecutableLink.length(of: UnsafeBufferPointer(rebasing: buffer[..<count]), link: path, in: root)
    }
  }

  /// readlink(2) of /proc/`id`/fd/`descriptor`: the path by which a file was opened. Follows nothing, asks no file
  /// system.
  ///
  /// - Returns: as `readExecutable`.
  static func readDescriptor(_ id: Int32, _ descriptor: Int32, into buffer: UnsafeMutableBufferPointer<UInt8>) -> Int {
    // Without an allocation per call this would be longer; it is asked for files with several names alone.
    "\(id)/fd/\(descriptor)".withCString { path in
      let count = readlinkat(root, path, buffer.baseAddress!, buffer.count)
      return count >= 0 ? count : -Int(errno)
    }
  }

  /// What /proc/`id`/fdinfo/`descriptor` says, locks included. Only of a file of the volume.
  ///
  /// - Returns: as `read`.
  static func readDescriptorInfo(
    _ id: Int32, _ descriptor: Int32, into buffer: UnsafeMutableBufferPointer<UInt8>
  ) -> Int {
    "\(id)/fdinfo/\(descriptor)".withCString { read($0, into: buffer) }
  }

  /// The descriptors that a process has open, at most `limit`.
  ///
  /// - Parameter failure: The errno where there is nothing to be had.
  static func descriptors(_ id: Int32, limit: Int, failure: inout Int32) -> [Int32] {
    numbers(in: "\(id)/fd", limit: limit, failure: &failure)
  }

  /// The threads of a process, at most `limit`, those that have ended and are still there among them; empty on any
  /// failure.
  static func threads(_ id: Int32, limit: Int) -> [Int32] {
    var failure: Int32 = 0
    return numbers(in: "\(id)/task", limit: limit, failure: &failure)
  }

  private static func numbers(in path: String, limit: Int, failure: inout Int32) -> [Int32] {
    let directory = path.withCString { openat(root, $0, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    guard directory >= 0, let stream = fdopendir(directory) else {
      failure = errno
      if directory >= 0 { close(directory) }
      return []
    }
    defer { closedir(stream) }
    var found: [Int32] = []
    while found.count < limit, let entry = readdir(stream) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { $0.prefix { $0 != 0 } }
      guard name.count < 10, name.allSatisfy({ (48...57).contains($0) }) else { continue }
      found.append(name.reduce(0) { $0 * 10 + Int32($1 - 48) })
    }
    return found
  }

  /// A descriptor of the link /proc/`id`/exe itself, which stays with this thread and opens nothing; the caller closes
  /// it.
  ///
  /// - Returns: -1 on any failure.
  static func pinExecutable(_ id: Int32) -> Int32 {
    withPath(id, file: "exe") { openat(root, $0, CLINUX_O_PATH | CLINUX_O_NOFOLLOW | O_CLOEXEC) }
  }

  /// st_ino of what /proc/`id`/`name` leads to; nil on any failure. Only for `ns/user`, which takes no lock of the
  /// process.
  static func inode(_ id: Int32, _ name: StaticString) -> UInt64? {
    withPath(id, file: name) { path in
      var status = stat()
      return fstatat(root, path, &status, 0) == 0 ? UInt64(status.st_ino) : nil
    }
  }

  /// The bytes of /proc/`id`/`name`, up to `limit`; nil on any failure, with the errno in `failure`.
  static func bytes(_ id: Int32, _ name: StaticString, limit: Int, failure: inout Int32) -> [UInt8]? {
    var count = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: limit) { buffer, initialized in
      count = read(id, name, into: buffer)
      initialized = max(count, 0)
    }
    failure = count < 0 ? Int32(-count) : 0
    return count < 0 ? nil : bytes
  }

  /// `id`/`name`, or `id`/task/`id`/`name`, relative to /proc.
  private static func withPath<Result>(
    _ id: Int32, file name: StaticString, inTask: Bool = false, _ body: (UnsafePointer<CChar>) -> Result
  ) -> Result {
    // Twice 10 digits, "/task/", a slash, the name and a NUL.
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { buffer in
      precondition(name.utf8CodeUnitCount < 32)
      var position = 0
      append(id, to: buffer, &position)
      if inTask {
        append("/task/", to: buffer, &position)
        append(id, to: buffer, &position)
      }
      append("/", to: buffer, &position)
      append(name, to: buffer, &position)
      buffer[position] = 0
      return body(UnsafePointer(buffer.baseAddress!))
    }
  }

  private static func append(_ id: Int32, to buffer: UnsafeMutableBufferPointer<CChar>, _ position: inout Int) {
    var divisor: Int32 = 1_000_000_000
    while divisor > 1, id < divisor { divisor /= 10 }
    while divisor > 0 {
      buffer[position] = CChar(48 + (id / divisor) % 10)
      position += 1
      divisor /= 10
    }
  }

  private static func append(
    _ text: StaticString, to buffer: UnsafeMutableBufferPointer<CChar>, _ position: inout Int
  ) {
    for index in 0..<text.utf8CodeUnitCount {
      buffer[position] = CChar(bitPattern: text.utf8Start[index])
      position += 1
    }
  }
}
