import DatalessControl
import Glibc

/// Who is whose child, from /proc.
enum ProcessTree {
  /// The children of this process, those that have ended and were not waited for among them; nil when /proc cannot say:
  /// it is missing, or another pid namespace's.
  ///
  /// Exact while the caller alone waits for children: a process becomes our child only when its parent ends, which then
  /// is among them, or was.
  static func ownChildren() -> [pid_t]? {
    let (link, own) = ("/proc/self", getpid())
    let name = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 32) { buffer -> String in
      let count = readlink(link, buffer.baseAddress!, buffer.count)
      return String(decoding: buffer[0..<max(count, 0)].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
    guard name == "\(own)" else { return nil }
    return children(of: own) ?? childrenByParent()?[own, default: []]
  }

  /// Those processes and all below them, in the order of their depth. What ends or begins meanwhile may be missing.
  static func descendants(of roots: [pid_t]) -> [pid_t] {
    let table = children(of: getpid()) == nil ? childrenByParent() : nil
    var found = roots
    var known = Set(roots)
    var next = 0
    while next < found.count {
      let below = table.map { $0[found[next], default: []] } ?? children(of: found[next]) ?? []
      found += below.filter { known.insert($0).inserted }
      next += 1
    }
    return found
  }

  /// Whether a process descends from this one.
  static func isBelowUs(_ pid: pid_t) -> Bool {
    var next = pid
    // LIMIT: a chain of pids that are reused while we follow it has no end.
    for _ in 0..<10_000 {
      guard let parent = parent(of: next), parent > 0 else { return false }
      if parent == getpid() { return true }
      next = parent
    }
    return false
  }

  /// The parent of a process, itself or one of its threads; nil when it is gone.
  static func parent(of pid: pid_t) -> pid_t? {
    guard let bytes = try? FileBytes.read("/proc/\(pid)/stat") else { return nil }
    return bytes.withUnsafeBufferPointer { ProcessStat($0)?.parent }
  }

  /// Of all threads: whichever of them adopted or started one. nil on a kernel without CONFIG_PROC_CHILDREN.
  private static func children(of pid: pid_t) -> [pid_t]? {
    guard let threads = CPath.names(in: Array("/proc/\(pid)/task".utf8)) else { return nil }
    var found: [pid_t] = []
    for thread in threads {
      let name = String(decoding: thread, as: UTF8.self)
      guard let bytes = try? FileBytes.read("/proc/\(pid)/task/\(name)/children") else {
        if name == "\(pid)" { return nil }
        continue
      }
      found += bytes.split(separator: UInt8(ascii: " ")).compactMap { pid_t(String(decoding: $0, as: UTF8.self)) }
    }
    return found
  }

  /// The slow way: a look at every process.
  private static func childrenByParent() -> [pid_t: [pid_t]]? {
    guard let names = CPath.names(in: Array("/proc".utf8)) else { return nil }
    var table: [pid_t: [pid_t]] = [:]
    for case let pid? in names.map({ pid_t(String(decoding: $0, as: UTF8.self)) }) {
      if let parent = parent(of: pid) { table[parent, default: []].append(pid) }
    }
    return table
  }
}
