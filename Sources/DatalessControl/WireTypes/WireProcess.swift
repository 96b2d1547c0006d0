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

  enum CodingKeys: String, CodingKey, CaseIterable {
    case pid, comm, exe, argv
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
