/// How much of a file was read, by everybody or by one program.
enum FileUse: String, Sendable, CaseIterable {
  case openedNotRead = "opened_not_read"
  case headerOnly = "header_only"
  case inPart = "in_part"
  case whole
  /// Less than all of it was seen being read, and more may have been read unseen, or at places that the log does not
  /// name.
  case unknown

  /// Header only: all that was read lies in the first 64 KiB, and is at most half of the file.
  static let headerBytesMax: Int64 = 64 << 10

  /// - Parameter isUnseen: Whether there may have been reads that the kernel served alone.
  init(size: Int64, coverage: ReadCoverage, isUnseen: Bool = false) {
    if size > 0, coverage.bytesAtLeast >= size {
      self = .whole
    } else if isUnseen || (size > 0 && coverage.bytesAtMost >= size) {
      self = .unknown
    } else if coverage.bytesAtMost <= 0 {
      self = .openedNotRead
    } else if coverage.highWaterMark <= Self.headerBytesMax, coverage.highWaterMark <= size / 2 {
      self = .headerOnly
    } else {
      self = .inPart
    }
  }

  var words: String {
    switch self {
    case .openedNotRead: "opened, not read"
    case .headerOnly: "header only"
    case .inPart: "read in part"
    case .whole: "read whole"
    case .unknown: "unknown"
    }
  }
}

/// A `handle.closed` or `handle.open` record.
struct HandleRecord: Sendable {
  struct Reads: Sendable {
    var covered: Int64
    /// Whether `covered` is to the byte; else it counts whole units, and is the most.
    var isExact: Bool
    var mapped: Int64
    var highWaterMark: Int64
    var ranges: [Range<Int64>]

    init(_ json: JSONObject) {
      covered = json.integer("covered_bytes") ?? 0
      isExact = (json.integer("covered_unit") ?? 1) <= 1
      mapped = json.integer("mapped_bytes") ?? 0
      highWaterMark = json.integer("high_water_mark") ?? 0
      ranges = json.byteRanges("ranges")
    }
  }

  struct Reader: Sendable {
    var process: UInt32?
    var reads: Reads
  }

  var number: UInt64?
  var path: [UInt8]
  /// Of a file with several.
  var names: [[UInt8]]
  var size: Int64
  var isCachedBefore: Bool
  /// Whether the path has another version of the file by now, or another file.
  var isSuperseded: Bool
  /// What all of them read.
  var all: Reads
  /// Who read; the one that opened it if nobody did.
  var readers: [Reader]

  init?(_ record: LogRecord) {
    let json = record.json
    guard let path = json.path else { return nil }
    self.path = path
    names = json.names
    number = json.unsigned("handle")
    size = json.integer("size") ?? 0
    isCachedBefore = json.bool("cached_before") ?? false
    isSuperseded = json.bool("superseded") ?? false
    all = Reads(json)
    readers = json.objects("readers").map { reader in
      Reader(process: reader.unsigned("process").flatMap { UInt32(exactly: $0) }, reads: Reads(reader))
    }
    if readers.isEmpty { readers = [Reader(process: record.process, reads: all)] }
  }
}
