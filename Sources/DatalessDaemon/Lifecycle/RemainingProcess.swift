import DatalessControl
import Glibc

/// A process that the command of `dataless run` left running, or another one that holds its volume.
public struct RemainingProcess: Sendable {
  /// By what a process keeps a volume in use.
  public enum Hold: String, Sendable, CaseIterable {
    case workingDirectory = "working_directory"
    case rootDirectory = "root_directory"
    case openFile = "open_file"
    case mapping
    /// It waits for the volume to answer a call.
    case waitingCall = "waiting_call"
  }

  /// Closed with its last user.
  final class Descriptor: Sendable {
    let number: CInt
    init(_ number: CInt) { self.number = number }
    deinit { close(number) }
  }

  public let pid: Int32
  /// Command name; nil when it could not be read.
  public let comm: String?
  /// Executable; nil when it could not be read.
  public let exe: [UInt8]?
  /// Its process and no later one of the same pid; nil where the kernel has no such descriptors.
  let descriptor: Descriptor?
  /// nil when it cannot be seen: the process is another user's, or does not let itself be looked at.
  public internal(set) var holds: Set<Hold>?
  /// Whether it was told to end, for what it holds or because the user wants all ended.
  public private(set) var wasEnded = false
  /// Why it could not be told: EPERM for another user's; ENOSYS where the kernel gives no descriptor of it, without
  /// which a signal could reach a later process of the same pid. nil when it was told, or was not to end.
  public private(set) var endErrno: Int32?

  /// Looks at a process. Only what answers while the process waits for a page of the volume is read.
  ///
  /// - Returns: nil when it has ended.
  static func look(_ pid: pid_t) -> RemainingProcess? {
    let descriptor = LinuxProcess.openProcess(pid).map { Descriptor($0) }
    let comm = (try? FileBytes.read("/proc/\(pid)/comm")).map { bytes in
      String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }
    guard comm != nil || descriptor != nil else { return nil }
    let exe = withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 4096) { buffer -> [UInt8]? in
      let count = ProcReader.readExecutable(LivingThread.of(pid), into: buffer)
      return count > 0 ? Array(buffer[..<count]) : nil
    }
    return RemainingProcess(pid: pid, comm: comm, exe: exe, descriptor: descriptor)
  }

  init(pid: pid_t, comm: String?, exe: [UInt8]?, descriptor: Descriptor?) {
    (self.pid, self.comm, self.exe, self.descriptor) = (pid, comm, exe, descriptor)
  }

  /// Whether it has ended, as a zombie too.
  public var hasEnded: Bool {
    guard let descriptor else { return kill(pid, 0) != 0 && errno == ESRCH }
    return !DescriptorIO.waitReadable([descriptor.number], until: Deadline(milliseconds: 0)).isEmpty
  }

  /// Tells it to end.
  mutating func end(by signal: CInt) {
    guard let descriptor else {
      endErrno = ENOSYS
      return
    }
    let number = LinuxProcess.send(signal, to: descriptor.number)
    // One that has ended meanwhile needs no telling.
    wasEnded = wasEnded || number == 0 || number == ESRCH
    endErrno = wasEnded ? nil : number
    // A stopped process does not see it before it goes on.
    if number == 0, signal != SIGKILL { LinuxProcess.send(SIGCONT, to: descriptor.number) }
  }
}
