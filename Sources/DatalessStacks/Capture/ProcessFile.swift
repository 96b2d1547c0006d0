internal import Glibc

/// Small files of /proc.
enum ProcessFile {
  static func bytes(_ name: String, limit: Int) -> [UInt8]? {
    var failure: Int32 = 0
    return bytes(name, limit: limit, failure: &failure)
  }

  /// What is there up to `limit`; nil on any failure, with the errno in `failure`.
  static func bytes(_ name: String, limit: Int, failure: inout Int32) -> [UInt8]? {
    let descriptor = open("/proc/" + name, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      failure = errno
      return nil
    }
    defer { close(descriptor) }
    return bytes(of: descriptor, limit: limit, failure: &failure)
  }

  /// The rest of an open file.
  static func bytes(of descriptor: Int32, limit: Int) -> [UInt8]? {
    var failure: Int32 = 0
    return bytes(of: descriptor, limit: limit, failure: &failure)
  }

  private static func bytes(of descriptor: Int32, limit: Int, failure: inout Int32) -> [UInt8]? {
    var bytes: [UInt8] = []
    var isAtEnd = false
    while !isAtEnd, bytes.count < limit {
      let wanted = min(limit - bytes.count, 64 << 10)
      var count = 0
      // The kernel gives a page at a time, whatever is wanted.
      let part = [UInt8](unsafeUninitializedCapacity: wanted) { buffer, initialized in
        repeat {
          count = read(descriptor, buffer.baseAddress.map { $0 + initialized }, wanted - initialized)
          initialized += max(count, 0)
        } while count > 0 && initialized < wanted
      }
      if count < 0 {
        failure = errno
        return nil
      }
      if bytes.isEmpty { bytes = part } else { bytes += part }
      isAtEnd = count == 0
    }
    return bytes
  }

  /// How many threads a process has; nil when that cannot be told. The links of its directory of threads say it, which
  /// costs less than to list them.
  static func threadCount(of processID: Int32) -> Int? {
    var status = stat()
    guard stat("/proc/\(processID)/task", &status) == 0, status.st_nlink > 2 else { return nil }
    return Int(clamping: status.st_nlink) - 2
  }

  /// The ids of a process' threads, the first `limit` of them; empty on any failure.
  static func threads(of processID: Int32, limit: Int) -> [Int32] {
    guard let directory = opendir("/proc/\(processID)/task") else { return [] }
    defer { closedir(directory) }
    var threads: [Int32] = []
    while threads.count < limit, let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if let thread = Int32(name) { threads.append(thread) }
    }
    return threads
  }
}
