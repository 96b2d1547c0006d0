import DatalessCore
import Glibc

/// The processes that run now, as /proc shows them: of other users, perhaps without their executables.
enum RunningProcesses {
  /// LIMIT: as many as Linux has by default on a large machine; others are not seen.
  private static let limit = 65_536

  static func facts() -> [ProcessFacts] {
    guard let directory = opendir("/proc") else { return [] }
    defer { closedir(directory) }
    var found: [ProcessFacts] = []
    while found.count < limit, let entry = readdir(directory) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { $0.prefix { $0 != 0 } }
      guard let pid = number(name), let process = facts(of: pid) else { continue }
      found.append(process)
    }
    return found
  }

  private static func number(_ name: some Collection<UInt8>) -> Int32? {
    guard (1...9).contains(name.count), name.allSatisfy({ (48...57).contains($0) }) else { return nil }
    return name.reduce(0) { $0 * 10 + Int32($1 - 48) }
  }

  private static func facts(of pid: Int32) -> ProcessFacts? {
    guard let look = ProcessSnapshot(pid) else { return nil }
    if look.executable.isKernelThread { return nil }
    var failure: Int32 = 0
    let cgroup = ProcReader.bytes(look.livingThread ?? pid, "cgroup", limit: 8192, failure: &failure)
    let status = ProcessStatus.read(pid, failure: &failure)
    return ProcessFacts(
      executable: look.executable.bytes, commandName: look.comm, cgroup: cgroup.flatMap { ProcessTable.cgroup($0) },
      uid: status?.uid)
  }
}
