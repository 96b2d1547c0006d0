/// What happened to one file: a row of `dataless summary --files`.
public struct FileSummary: Codable, Sendable, Equatable {
  /// The order of rows.
  public enum Order: String, Sendable, CaseIterable {
    /// Needless ones first, then those with the most bytes that nobody was seen to read.
    case needless
    /// Longest blocked first.
    case blocked
    /// Most bytes first.
    case bytes
  }

  public struct Process: Codable, Sendable, Hashable {
    public var pid: Int32
    public var comm: String?
    /// What an interpreter runs; absent where there is none, or none is known.
    public var script: String?
  }

  /// Relative to the volume's root.
  public var path = ""
  public var pathBase64: String?
  public var size: Int64 = 0
  /// Content fetched, over all materializations.
  public var bytes: Int64 = 0
  public var attempts: Int64 = 0
  public var materializations: Int64 = 0
  /// Bytes that were seen being read, each counted once, and their share of the file, 0 to 1. Absent share: unknown.
  public var readBytes: Int64 = 0
  public var readShare: Double?
  /// Of `readBytes`, what came by pages for a mapping or exec: less may have been used. Absent: unknown, because
  /// several handles had some.
  public var mappedBytes: Int64?
  /// `opened_not_read`, `header_only`, `in_part`, `whole` or `unknown`; absent when nobody opened it.
  public var use: String?
  public var isNeedless = false
  /// SOURCE has another version of the file by now, or none: that one has a row of its own.
  public var isSuperseded = false
  public var blocked = SummaryReport.Blocked()
  /// Who materialized or read it: how many, and the first 8 of them.
  public var processCount: Int64 = 0
  public var processes: [Process] = []

  public init() {}

  public var pathBytes: [UInt8] { WirePath.bytes(path, pathBase64) }

  enum CodingKeys: String, CodingKey {
    case path, size, bytes, attempts, materializations, use, blocked, processes
    case isSuperseded = "superseded"
    case pathBase64 = "path_b64"
    case readBytes = "read_bytes"
    case readShare = "read_share"
    case mappedBytes = "mapped_bytes"
    case isNeedless = "needless"
    case processCount = "process_count"
  }

  /// Content that was fetched and that nobody was seen to read; 0 where that is not known.
  private var unread: Int64 {
    use == nil || use == FileUse.unknown.rawValue ? 0 : max(0, min(size, bytes).minus(readBytes))
  }

  private var age: Int { isSuperseded ? 0 : 1 }

  /// By what rows are ordered: greater numbers first, then by their paths, an older version before the newer one.
  struct Rank: Sendable {
    var first: Int64
    var second: Int64
    var path: String
    var age: Int

    func precedes(_ other: Rank) -> Bool {
      (other.first, other.second, path, age) < (first, second, other.path, other.age)
    }

    /// Whether it comes behind another one, whatever the paths are.
    func isBehindByNumbers(_ other: Rank) -> Bool { (first, second) < (other.first, other.second) }
  }

  func rank(by order: Order) -> Rank {
    switch order {
    case .needless: Rank(first: isNeedless ? 1 : 0, second: unread, path: path, age: age)
    case .blocked: Rank(first: blocked.sumNanoseconds, second: 0, path: path, age: age)
    case .bytes: Rank(first: bytes, second: size, path: path, age: age)
    }
  }

  public static func sort(_ files: inout [FileSummary], by order: Order) {
    files.sort { $0.rank(by: order).precedes($1.rank(by: order)) }
  }
}
