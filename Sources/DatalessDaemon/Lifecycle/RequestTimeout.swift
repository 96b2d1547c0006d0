import DatalessControl
import DatalessCore
import Glibc

/// The kernel's own limit on how long a FUSE reply may take (Linux 6.14 and later): one late reply ends the whole
/// mount.
enum RequestTimeout {
  /// Warns when a delay is not shorter than the limit.
  ///
  /// - Parameters:
  ///   - longestWait: The longest delay that was asked for.
  ///   - directory: Where the two sysctls are; for tests.
  static func warnings(longestWait: Nanoseconds, directory: String = "/proc/sys/fs/fuse") -> [String] {
    let limits = ["default_request_timeout", "max_request_timeout"].compactMap { name in
      seconds("\(directory)/\(name)").map { (name, $0) }
    }
    guard let (name, limit) = limits.filter({ $0.1 > 0 }).min(by: { $0.1 < $1.1 }),
      longestWait >= .seconds(limit)
    else { return [] }
    return [
      "fs.fuse.\(name) is \(limit) s: the kernel ends the whole mount when a reply is later than that, and the longest "
        + "wait asked for (latency, gates, faults without an end) is not shorter. Raise it (sysctl fs.fuse.\(name)=0), or "
        + "ask for less."
    ]
  }

  private static func seconds(_ path: String) -> Int64? {
    guard let bytes = try? FileBytes.read(path) else { return nil }
    return Int64(String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self))
  }
}
