/// What happened to each item, in a few bytes per item.
struct SummaryFiles: Sendable {
  private struct Item {
    var size: Int64 = 0
    var covered: Int64 = 0
    var highWaterMark: Int64 = 0
    var attempts: UInt16 = 0
    var materializations: UInt16 = 0
    var isOpened = false
    var isReadAgain = false
    var isTriggeredByHandle = false
    /// What was materialized before was another version.
    var isNewVersion = false
    /// Some ranges of it are there, since its last eviction.
    var isPartial = false
  }

  /// What one attempt was to its file.
  enum Share {
    case whole
    /// It had been materialized before, and evicted since.
    case again
    /// It brought in more of a file of which something was there.
    case more
  }

  private var items: [UInt64: Item] = [:]
  private var chains: [UInt64: (length: Int64, durationNanoseconds: Int64)] = [:]
  private(set) var repeated = SummaryReport.Repeated()
  private(set) var longestChain: SummaryReport.Chain?
  private(set) var distinctFiles: Int64 = 0
  private(set) var distinctBytes: Int64 = 0

  mutating func started(_ path: [UInt8], size: Int64) {
    let count = update(path) { item in
      item.size = max(item.size, size)
      item.attempts = item.attempts == .max ? .max : item.attempts + 1
      return item.attempts
    }
    if count == 2 { repeated.items += 1 }
    if count > 1, Int64(count) > repeated.attemptsMax {
      repeated.attemptsMax = Int64(count)
      repeated.path = Self.text(path)
    }
  }

  /// - Parameters:
  ///   - isRead: Whether somebody read it, and not a command of ours asked for it.
  ///   - isPart: Whether the attempt brought in a range of the file.
  mutating func materializedFile(_ path: [UInt8], bytes: Int64, isRead: Bool, isPart: Bool) -> Share {
    let (isFirst, share) = update(path) { item in
      item.size = max(item.size, bytes)
      if item.isPartial, !item.isNewVersion { return (false, Share.more) }
      item.isPartial = isPart
      item.materializations = item.materializations == .max ? .max : item.materializations + 1
      let isAgain = isRead && item.materializations > 1 && !item.isNewVersion
      item.isNewVersion = false
      if isAgain { item.isReadAgain = true }
      return (item.materializations == 1, isAgain ? .again : .whole)
    }
    if isFirst { distinctFiles += 1 }
    if isFirst || share == .more { distinctBytes += bytes }
    return share
  }

  mutating func evicted(_ path: [UInt8]) { update(path) { $0.isPartial = false } }

  /// The source has another version: who reads that reads nothing again.
  mutating func changed(_ path: [UInt8]) { update(path) { $0.isNewVersion = $0.materializations > 0 } }

  mutating func materializedDirectory(_ path: [UInt8], durationNanoseconds: Int64) {
    var chain = (length: Int64(1), durationNanoseconds: durationNanoseconds)
    if !path.isEmpty {
      let parent = path.lastIndex(of: PathBytes.slash).map { path[..<$0] } ?? []
      if let above = chains[PathHash.of(parent)] {
        chain = (above.length + 1, above.durationNanoseconds + durationNanoseconds)
      }
    }
    chains[PathHash.of(path)] = chain
    let longest = longestChain.map { ($0.length, $0.durationNanoseconds) } ?? (0, 0)
    if (chain.length, chain.durationNanoseconds) > longest {
      longestChain = SummaryReport.Chain(
        length: chain.length, path: Self.text(path), durationNanoseconds: chain.durationNanoseconds)
    }
  }

  mutating func closed(_ path: [UInt8], size: Int64, covered: Int64, highWaterMark: Int64, triggered: Bool) {
    update(path) { item in
      item.size = max(item.size, size)
      // What two handles read may overlap; their sum is the most that was needed.
      item.covered = min(item.size, item.covered.addingReportingOverflow(covered).partialValue)
      item.highWaterMark = max(item.highWaterMark, highWaterMark)
      item.isOpened = true
      item.isTriggeredByHandle = item.isTriggeredByHandle || triggered
    }
  }

  /// Files by what was read of them.
  var use: SummaryReport.Use {
    var use = SummaryReport.Use()
    for item in items.values {
      if item.isReadAgain { use.readAgainAfterEviction += 1 }
      guard item.isOpened else { continue }
      use.count(FileUse(size: item.size, covered: item.covered, highWaterMark: item.highWaterMark))
      if item.materializations > 0, item.isTriggeredByHandle, item.covered <= item.size / 20 {
        use.needlessFiles += 1
        use.needlessBytes += item.size
      }
    }
    return use
  }

  @discardableResult
  private mutating func update<Result>(_ path: [UInt8], _ body: (inout Item) -> Result) -> Result {
    body(&items[PathHash.of(path), default: Item()])
  }

  private static func text(_ path: [UInt8]) -> String { path.isEmpty ? "." : String(decoding: path, as: UTF8.self) }
}
