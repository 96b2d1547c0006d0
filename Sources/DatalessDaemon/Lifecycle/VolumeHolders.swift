import CDatalessLinux
import DatalessControl
import Glibc
import Synchronization

/// Finds out which processes keep a volume in use, without a request to it.
///
/// All that is asked is answered by the kernel alone: statx(2) through the links of /proc with AT_STATX_DONT_SYNC. Its
/// /proc/PID/maps takes a lock, on older kernels, that a process may hold while it waits for the volume: everything is done on
/// a thread that can be left behind.
struct VolumeHolders {
  /// `major:minor` of the volume.
  let device: String
  /// Processes that wait for an answer of the volume, from its daemon.
  let waiting: Set<pid_t>

  private static let dontSync: CInt = 0x4000
  private static let lookMilliseconds = 2000

  private final class Findings: Sendable {
    let found = Mutex<[pid_t: Set<LeftProcess.Hold>]>([:])
  }

  /// Notes in each process what it holds; it stays nil for those that cannot be looked at in 2 s.
  func look(at processes: inout [LeftProcess]) {
    let findings = Findings()
    if let pipe = try? Pipe() {
      let (pids, writeEnd) = (processes.map(\.pid), pipe.writeEnd)
      let isStarted = DetachedThread.start {
        for pid in pids {
          let holds = holds(pid)
          findings.found.withLock { $0[pid] = holds }
        }
        close(writeEnd)
      }
      if !isStarted { close(writeEnd) }
      _ = DescriptorIO.waitReadable([pipe.readEnd], until: Deadline(milliseconds: Self.lookMilliseconds))
      close(pipe.readEnd)
    }
    let found = findings.found.withLock { $0 }
    for index in processes.indices {
      let pid = processes[index].pid
      processes[index].holds = found[pid]
      if waiting.contains(pid) { processes[index].holds = (found[pid] ?? []).union([.waitingCall]) }
    }
  }

  /// nil when the process does not let us look, or is gone.
  private func holds(_ pid: pid_t) -> Set<LeftProcess.Hold>? {
    var holds: Set<LeftProcess.Hold> = []
    guard let isWorkingThere = isOnVolume("/proc/\(pid)/cwd"), let isRoot = isOnVolume("/proc/\(pid)/root"),
      let descriptors = CPath.names(in: Array("/proc/\(pid)/fd".utf8))
    else { return nil }
    if isWorkingThere { holds.insert(.workingDirectory) }
    if isRoot { holds.insert(.rootDirectory) }
    let isOpen = descriptors.contains { isOnVolume("/proc/\(pid)/fd/\(String(decoding: $0, as: UTF8.self))") == true }
    if isOpen { holds.insert(.openFile) }
    if isMapped(pid) { holds.insert(.mapping) }
    return holds
  }

  private func isOnVolume(_ link: String) -> Bool? {
    var status = clinux_statx()
    let flags = Self.dontSync | CLINUX_AT_NO_AUTOMOUNT
    guard clinux_statx_call(CLINUX_AT_FDCWD, link, flags, 0, &status) == 0 else { return nil }
    return "\(status.device_major):\(status.device_minor)" == device
  }

  /// Lines of maps: range, permissions, offset, device (hexadecimal), inode, name.
  private func isMapped(_ pid: pid_t) -> Bool {
    guard let maps = try? FileBytes.read("/proc/\(pid)/maps") else { return false }
    return maps.split(separator: UInt8(ascii: "\n")).contains { line in
      let fields = line.split(separator: UInt8(ascii: " "), maxSplits: 4)
      guard fields.count > 3 else { return false }
      let numbers = fields[3].split(separator: UInt8(ascii: ":")).map {
        Int(String(decoding: $0, as: UTF8.self), radix: 16)
      }
      return numbers.count == 2 && "\(numbers[0] ?? -1):\(numbers[1] ?? -1)" == device
    }
  }
}
