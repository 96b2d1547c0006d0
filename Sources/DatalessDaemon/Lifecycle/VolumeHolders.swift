import CDatalessLinux
import DatalessControl
import Glibc
import Synchronization

/// Finds out which processes keep a volume in use, without a request to it. Nobody is signalled here.
///
/// All that is asked is answered by the kernel alone: statx(2) through the links of /proc with AT_STATX_DONT_SYNC. Its
/// /proc/PID/maps takes a lock, on older kernels, that a process may hold while it waits for the volume: everything is
/// done on a thread that can be left behind.
struct VolumeHolders {
  /// `major:minor` of the volume.
  let device: String
  /// Processes that wait for an answer of the volume, from its daemon.
  let waiting: Set<pid_t>

  private static let dontSync: CInt = 0x4000
  private static let lookMilliseconds = 2000
  /// For all the processes of the machine.
  private static let outsidersMilliseconds = 1000
  /// LIMIT: of others that hold the volume so many are named.
  private static let outsidersMax = 100

  private final class Findings: Sendable {
    let found = Mutex<[pid_t: Set<RemainingProcess.Hold>]>([:])
  }

  /// Notes in each process what it holds; it stays nil for those that cannot be looked at in 2 s.
  func look(at processes: inout [RemainingProcess]) {
    let found = look(at: processes.map(\.pid), milliseconds: Self.lookMilliseconds)
    for index in processes.indices {
      let pid = processes[index].pid
      processes[index].holds = found[pid]
      if waiting.contains(pid) { processes[index].holds = (found[pid] ?? []).union([.waitingCall]) }
    }
  }

  /// Processes that do not descend from this one and hold the volume: of those that let us look within a second. None
  /// where /proc is another pid namespace's.
  ///
  /// - Parameter known: Not these.
  func outsiders(except known: Set<pid_t>) -> [RemainingProcess] {
    guard let children = ProcessTree.ownChildren(), let names = CPath.names(in: Array("/proc".utf8)) else { return [] }
    let own = known.union(ProcessTree.descendants(of: children)).union([getpid()])
    let others = names.compactMap { pid_t(String(decoding: $0, as: UTF8.self)) }.filter { !own.contains($0) }
    var found = look(at: others, milliseconds: Self.outsidersMilliseconds)
    for pid in waiting where !own.contains(pid) && pid > 0 { found[pid, default: []].insert(.waitingCall) }
    return found.filter { !$0.value.isEmpty }.sorted { $0.key < $1.key }.prefix(Self.outsidersMax).compactMap { entry in
      // It may have been started while we looked.
      guard var process = RemainingProcess.look(entry.key), !ProcessTree.isBelowUs(entry.key) else { return nil }
      process.holds = entry.value
      return process
    }
  }

  /// What each of some processes holds, of those that could be looked at in time.
  private func look(at pids: [pid_t], milliseconds: Int) -> [pid_t: Set<RemainingProcess.Hold>] {
    let findings = Findings()
    guard let pipe = try? Pipe() else { return [:] }
    let writeEnd = pipe.writeEnd
    let isStarted = DetachedThread.start {
      for pid in pids {
        let holds = holds(pid)
        findings.found.withLock { $0[pid] = holds }
      }
      close(writeEnd)
    }
    if !isStarted { close(writeEnd) }
    _ = DescriptorIO.waitReadable([pipe.readEnd], until: Deadline(milliseconds: milliseconds))
    close(pipe.readEnd)
    return findings.found.withLock { $0 }
  }

  /// nil when the process does not let us look, or is gone.
  private func holds(_ pid: pid_t) -> Set<RemainingProcess.Hold>? {
    let thread = LivingThread.of(pid)
    var holds: Set<RemainingProcess.Hold> = []
    guard let isWorkingThere = isOnVolume("/proc/\(thread)/cwd"), let isRoot = isOnVolume("/proc/\(thread)/root"),
      let descriptors = CPath.names(in: Array("/proc/\(thread)/fd".utf8))
    else { return nil }
    if isWorkingThere { holds.insert(.workingDirectory) }
    if isRoot { holds.insert(.rootDirectory) }
    let isOpen = descriptors.contains {
      isOnVolume("/proc/\(thread)/fd/\(String(decoding: $0, as: UTF8.self))") == true
    }
    if isOpen { holds.insert(.openFile) }
    if isMapped(thread) { holds.insert(.mapping) }
    return holds
  }

  private func isOnVolume(_ link: String) -> Bool? {
    var status = clinux_statx()
    let flags = Self.dontSync | CLINUX_AT_NO_AUTOMOUNT
    guard clinux_statx_call(CLINUX_AT_FDCWD, link, flags, 0, &status) == 0 else { return nil }
    return "\(status.device_major):\(status.device_minor)" == device
  }

  /// Lines of maps: range, permissions, offset, device (hexadecimal), inode, name.
  private func isMapped(_ thread: pid_t) -> Bool {
    guard let maps = try? FileBytes.read("/proc/\(thread)/maps") else { return false }
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
