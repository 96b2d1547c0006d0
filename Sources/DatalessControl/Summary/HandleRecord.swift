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
