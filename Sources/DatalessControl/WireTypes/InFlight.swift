/// One attempt that is running, and who waits for it.
public struct InFlightAttempt: Codable, Sendable, Equatable {
  public var attempt: UInt64
  /// Relative to the volume's root.
  public var path: String
  public var pathBase64: String?
  /// `file` or `directory`.
  public var kind: String
  /// `held` at a gate, `queued` for a slot, `delayed` by the latency model, `fetching`, or `stuck` by a fault that
  /// never ends.
  public var stage: String
  /// Since the trigger.
  public var ageNanoseconds: Int64
  /// Who triggered it; absent for a command of ours.
  public var process: WireProcess?
  public var waiterCount: Int64
  /// The first 64, oldest first.
  public var waiters: [InFlightWaiter]

  enum CodingKeys: String, CodingKey {
    case attempt, path, kind, stage, process, waiters
    case pathBase64 = "path_b64"
    case ageNanoseconds = "age_ns"
    case waiterCount = "waiter_count"
  }

  public init(
    attempt: UInt64, path: [UInt8], kind: String, stage: String, ageNanoseconds: Int64, process: WireProcess? = nil,
    waiterCount: Int64, waiters: [InFlightWaiter]
  ) {
    self.attempt = attempt
    (self.path, pathBase64) = WirePath.split(path)
    self.kind = kind
    self.stage = stage
    self.ageNanoseconds = ageNanoseconds
    self.process = process
    self.waiterCount = waiterCount
    self.waiters = waiters
  }

  public var pathBytes: [UInt8] { WirePath.bytes(path, pathBase64) }
}

/// One blocked caller of an attempt.
public struct InFlightWaiter: Codable, Sendable, Equatable {
  /// 0 when the caller lives in another pid namespace.
  public var pid: Int32
  public var tid: Int32
  public var mainThread: Bool
  /// Command name; absent when it could not be read.
  public var comm: String?
  /// Executable; absent when it could not be read.
  public var exe: String?
  public var exeBase64: String?
  /// What an interpreter runs; absent where there is none, or none is known.
  public var script: String?
  /// Of a thread that is called otherwise than its process.
  public var threadName: String?
  /// Such as `backup.service`; absent outside of any.
  public var unit: String?
  /// Such as `docker:0123456789ab`; absent outside of any.
  public var container: String?
  /// The operation that blocks, as in the event log.
  public var trigger: String
  public var blockedNanoseconds: Int64

  enum CodingKeys: String, CodingKey {
    case pid, tid, comm, exe, script, unit, container, trigger
    case mainThread = "main_thread"
    case threadName = "thread_name"
    case exeBase64 = "exe_b64"
    case blockedNanoseconds = "blocked_ns"
  }

  public init(
    pid: Int32, tid: Int32, mainThread: Bool, comm: String? = nil, exe: [UInt8]? = nil, trigger: String,
    blockedNanoseconds: Int64
  ) {
    self.pid = pid
    self.tid = tid
    self.mainThread = mainThread
    self.comm = comm
    if let exe { (self.exe, exeBase64) = WirePath.split(exe) }
    self.trigger = trigger
    self.blockedNanoseconds = blockedNanoseconds
  }

  public var exeBytes: [UInt8]? { exe.map { WirePath.bytes($0, exeBase64) } }
  /// Whether an intent waits, which blocks no thread.
  public var isIntent: Bool { trigger == "coordinate" }
}

/// A process, as far as it could be identified.
public struct WireProcess: Codable, Sendable, Equatable {
  public var pid: Int32
  /// Command name; absent when it could not be read.
  public var comm: String?
  /// Executable; absent when it could not be read.
  public var exe: String?
  public var exeBase64: String?
  /// Arguments, U+FFFD where they are not UTF-8; absent when they could not be read or were not asked for.
  public var argv: [String]?
  /// What an interpreter runs; absent where there is none, or none is known.
  public var script: String?

  enum CodingKeys: String, CodingKey, CaseIterable {
    case pid, comm, exe, argv, script
    case exeBase64 = "exe_b64"
  }

  public init(pid: Int32, comm: String? = nil, exe: [UInt8]? = nil, argv: [String]? = nil) {
    self.pid = pid
    self.comm = comm
    if let exe { (self.exe, exeBase64) = WirePath.split(exe) }
    self.argv = argv
  }

  public var exeBytes: [UInt8]? { exe.map { WirePath.bytes($0, exeBase64) } }
}

extension VolumeStatus {
  /// How many callers are blocked: by attempts, and by delayed calls. What an intent waits for stands with the intent:
  /// no thread is blocked.
  public var blockedCallers: Int64 {
    inFlight.reduce(access?.waiting ?? 0) { sum, attempt in
      sum.plus(max(0, attempt.waiterCount.minus(Int64(attempt.waiters.count { $0.isIntent }))))
    }
  }
}
