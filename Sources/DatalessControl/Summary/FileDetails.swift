/// What only the rows of `dataless summary --files` tell of a file: its path, who, and how long they waited.
struct FileDetails: Sendable {
  private static let processesMax = 8

  private(set) var rows: [FileSummary] = []
  private var indices: [UInt64: Int] = [:]

  mutating func note(_ path: [UInt8], _ process: FileSummary.Process?) {
    let index = index(path)
    guard let process, !rows[index].processes.contains(process) else { return }
    rows[index].processCount += 1
    if rows[index].processes.count < Self.processesMax { rows[index].processes.append(process) }
  }

  mutating func waited(_ path: [UInt8], _ nanoseconds: Int64, _ isUnderWay: Bool) {
    rows[index(path)].blocked.add(nanoseconds, isUnderWay: isUnderWay)
  }

  private mutating func index(_ path: [UInt8]) -> Int {
    let hash = PathHash.of(path)
    if let index = indices[hash] { return index }
    indices[hash] = rows.count
    var row = FileSummary()
    (row.path, row.pathBase64) = WirePath.split(path)
    rows.append(row)
    return rows.count - 1
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

  var path: [UInt8]
  var size: Int64
  var isCachedBefore: Bool
  /// Who read; the one that opened it if nobody did.
  var readers: [Reader]

  init?(_ record: LogRecord) {
    let json = record.json
    guard let path = json.path else { return nil }
    self.path = path
    size = json.integer("size") ?? 0
    isCachedBefore = json.bool("cached_before") ?? false
    readers = json.objects("readers").map { reader in
      Reader(process: reader.unsigned("process").flatMap { UInt32(exactly: $0) }, reads: Reads(reader))
    }
    if readers.isEmpty { readers = [Reader(process: record.process, reads: Reads(json))] }
  }
}
