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
  /// The operation that blocks, as in the event log.
  public var trigger: String
  public var blockedNanoseconds: Int64

  enum CodingKeys: String, CodingKey, CaseIterable {
    case pid, tid, comm, exe, trigger
    case mainThread = "main_thread"
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
}
