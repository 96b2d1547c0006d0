import DatalessCore
import DequeModule
import Glibc

/// One connection: one intent, or one presenter.
final class CoordinationClient {
  enum Stage: Equatable {
    /// Nothing was asked for yet.
    case silent
    /// Its paths are being read, or are to be.
    case reading
    /// Others are before it.
    case waiting
    /// It is held, and those who present what it is for are asked.
    case asking
    /// What it is for is brought here.
    case preparing
    case granted
    /// A presenter.
    case presenting
    /// It was one, and has not read why it is none any more.
    case leaving
  }

  let id: UInt64
  let descriptor: Int32
  /// As the kernel says it; 0 in another pid namespace.
  let pid: Int32
  let caller: Caller
  let since: MonotonicTime
  var stage = Stage.silent
  /// What it has asked for, if it is still to be read.
  var unread: UnreadRequest?
  var request: CoordinationRequest?
  var fetch: CoordinatedFetch?
  /// When it was held, and when it was answered.
  var heldAt: MonotonicTime?
  var grantedAt: MonotonicTime?
  /// The intents before which this one is to end, as presenters save in it, and the presenters that were asked about
  /// those.
  var savesBefore: [UInt64] = []
  var informed: Set<UInt64> = []
  /// The presenters that were asked; when all had answered, or their time was up.
  var asked: [UInt64: CoordinationAnswer.News] = [:]
  var answeredAt: MonotonicTime?
  /// What a presenter is to be told, and its socket does not take yet.
  var outbox = Deque<[UInt8]>()

  init(id: UInt64, descriptor: Int32, pid: Int32, caller: Caller, since: MonotonicTime) {
    self.pid = pid
    self.id = id
    self.descriptor = descriptor
    self.caller = caller
    self.since = since
  }

  deinit { close(descriptor) }

  /// Whether its process has become, or waits for, the command for which it was asked.
  var isCommand: Bool { stage == .granted && request?.options.contains(.command) ?? false }

  var isHeld: Bool { stage == .asking || stage == .preparing || stage == .granted }
}

/// The processes that have connections: told when one ends, whoever else has its descriptors, and whether one is
/// stopped.
struct CoordinationProcesses {
  private struct Process {
    /// nil where the kernel does not give it, as of another pid namespace.
    let handle: ProcessHandle?
    var clients: Set<UInt64> = []
    /// Those that have not said anything yet.
    var silent: Set<UInt64> = []
    /// While it is stopped, of those for which others wait: since when both is so.
    var stoppedSince: [UInt64: MonotonicTime] = [:]
    var standstill: ProcessThreads.Standstill?
    var isEnding = false
  }

  /// How long a process may be stopped while others wait for what it holds.
  static let stoppedMax = Nanoseconds.seconds(5)
  /// What was seen longer ago than this says nothing: nobody waited meanwhile, and nobody has looked.
  private static let lookGapMax = Nanoseconds.seconds(2)

  private var processes: [Int32: Process] = [:]
  private var lastLook: MonotonicTime?

  /// - Returns: A descriptor to be watched from now on, of a process that has none yet.
  mutating func add(_ client: UInt64, of pid: Int32) -> Int32? {
    if let known = processes[pid], known.handle.map({ !$0.hasEnded }) ?? true {
      processes[pid]?.clients.insert(client)
      processes[pid]?.silent.insert(client)
      return nil
    }
    var process = Process(handle: ProcessHandle(pid: pid))
    // Those of a process that had this id, and whose end comes to be known now.
    process.clients = processes[pid]?.clients ?? []
    process.clients.insert(client)
    process.silent.insert(client)
    processes[pid] = process
    return process.handle?.descriptor
  }

  mutating func remove(_ client: UInt64, of pid: Int32) {
    processes[pid]?.clients.remove(client)
    processes[pid]?.silent.remove(client)
    if processes[pid]?.clients.isEmpty ?? false { processes[pid] = nil }
  }

  mutating func noteSpoken(_ client: UInt64, of pid: Int32) { processes[pid]?.silent.remove(client) }

  /// Whether some of a process have not said anything yet.
  func areSilent(of pid: Int32) -> Bool { !(processes[pid]?.silent.isEmpty ?? true) }

  /// Those of a process that have not said anything yet, in the order in which they came.
  func silent(of pid: Int32) -> [UInt64] { processes[pid]?.silent.sorted() ?? [] }

  func count(of pid: Int32) -> Int { processes[pid]?.clients.count ?? 0 }

  /// The clients of a process that certainly lives.
  func living(_ pid: Int32) -> Set<UInt64> {
    guard let process = processes[pid], let handle = process.handle, !handle.hasEnded else { return [] }
    return process.clients
  }

  /// The clients of a process that has ended; empty if it has not.
  func ended(_ pid: Int32) -> [UInt64] {
    guard let process = processes[pid], process.handle?.hasEnded ?? false else { return [] }
    return process.clients.sorted()
  }

  /// The clients of processes that have been stopped for too long. To be asked for once a second while anybody waits.
  ///
  /// - Parameter isWaitedFor: Whether others wait for what a client holds.
  mutating func stopped(at now: MonotonicTime, isWaitedFor: (UInt64) -> Bool) -> [UInt64] {
    let isRecent = lastLook.map { now - $0 <= Self.lookGapMax } ?? false
    lastLook = now
    var found: [UInt64] = []
    for (pid, process) in processes {
      var since: [UInt64: MonotonicTime] = [:]
      let standstill = ProcessThreads.standstill(of: pid)
      if standstill != nil, !(process.handle?.hasEnded ?? true) {
        // Otherwise it has gone on since the last look, however short that was.
        let isSame = isRecent && standstill == process.standstill
        for client in process.clients where isWaitedFor(client) {
          let first = isSame ? process.stoppedSince[client] ?? now : now
          since[client] = first
          if now - first >= Self.stoppedMax { found.append(client) }
        }
      }
      if !since.isEmpty || !process.stoppedSince.isEmpty { processes[pid]?.stoppedSince = since }
      if standstill != process.standstill { processes[pid]?.standstill = standstill }
    }
    return found.sorted()
  }

  /// Whether a process has ended, or is about to: its descriptors are closed before its end is told.
  mutating func isEnding(_ pid: Int32) -> Bool {
    guard let process = processes[pid] else { return false }
    if process.isEnding { return true }
    // Its end may come, and be waited for, between the two: then /proc has it no more.
    guard process.handle?.hasEnded ?? false || ProcessThreads.areEnding(of: pid) || process.handle?.hasEnded ?? false
    else { return false }
    processes[pid]?.isEnding = true
    return true
  }
}

/// Who coordinates, as `status` and `GET /v1/coordination` show it.
struct CoordinationSnapshot: Sendable {
  struct Intent: Sendable {
    var id: UInt64
    var caller: Caller
    /// `waiting`, `asking`, `preparing` or `granted`.
    var stage: String
    var reads: Int
    var writes: Int
    var options: [String]
    var within: UInt64?
    var path: [UInt8]
    var age: Nanoseconds
    /// Those that are before it, or in which presenters save first.
    var waitsFor: [UInt64]
    /// Where those are before it; nil: nobody is, or presenters save.
    var waitsAt: [UInt8]?
    /// Presenters that have not answered, and who the first of them are.
    var asks: [UInt64]
    var presenters: [Presenter]
  }

  struct Presenter: Sendable {
    var id: UInt64
    var caller: Caller
    var path: [UInt8]
  }

  var waiting = 0
  var granted = 0
  /// Asking presenters, or for content.
  var preparing = 0
  var presenters = 0
  /// Of all since the mount: granted, refused, taken away.
  var totals = Totals()
  /// The oldest first, at most so many as were asked for.
  var intents: [Intent] = []

  struct Totals: Sendable {
    var granted: Int64 = 0
    var refused: Int64 = 0
    var deadlocks: Int64 = 0
    var takenAway: Int64 = 0
  }
}
