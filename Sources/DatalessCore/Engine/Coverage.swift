/// Which bytes of a file were read: exact up to some number of separate ranges, then by pages, and of very many by
/// larger units. At most a few megabytes, however much is read, and wherever.
struct Coverage {
  private var exact = ByteRangeSet()
  private var units: UnitMap?

  /// LIMIT: separate ranges that are kept to the byte, 256 KiB of them.
  private static let rangesMax = 16_384

  /// How many bytes were read at least once, rounded up to whole units for each range.
  var count: Int64 { units?.count ?? exact.count }

  /// 1 while `count` is exact.
  var unit: Int64 { units?.unit ?? 1 }

  mutating func insert(_ range: Range<Int64>) {
    guard units == nil else {
      units?.insert(range)
      return
    }
    exact.insert(range)
    if exact.rangeCount > Self.rangesMax { countUnits() }
  }

  private mutating func countUnits() {
    var units = UnitMap()
    for range in exact.ranges { units.insert(range) }
    self.units = units
    exact = ByteRangeSet()
  }

  /// All ranges, in order, to the byte; nil when there are more than `limit`, or when they are not known so exactly.
  func ranges(upTo limit: Int) -> [Range<Int64>]? {
    units == nil && exact.rangeCount <= limit ? exact.ranges : nil
  }
}

/// A bit for each unit of a file, in regions that are there when something of them is.
private struct UnitMap {
  private(set) var unit: Int64 = 4096
  private var units: Int64 = 0
  private var regions: [Int64: [UInt64]] = [:]

  private static let wordsOfRegion = 512
  private static let unitsOfRegion = Int64(wordsOfRegion * 64)
  /// LIMIT: regions, 4 KiB each.
  private static let regionsMax = 256

  var count: Int64 {
    let (count, overflow) = units.multipliedReportingOverflow(by: unit)
    return overflow ? .max : count
  }

  mutating func insert(_ range: Range<Int64>) {
    guard !range.isEmpty, range.lowerBound >= 0 else { return }
    while (range.upperBound - 1) / unit / Self.unitsOfRegion - range.lowerBound / unit / Self.unitsOfRegion
      >= Self.regionsMax
    { coarsen() }
    var next = range.lowerBound / unit
    let last = (range.upperBound - 1) / unit
    while next <= last {
      let region = next / Self.unitsOfRegion
      let end = min(last, (region + 1) * Self.unitsOfRegion - 1)
      set(Int(next % Self.unitsOfRegion)...Int(end % Self.unitsOfRegion), in: region)
      next = end + 1
    }
    while regions.count > Self.regionsMax { coarsen() }
  }

  private mutating func set(_ bits: ClosedRange<Int>, in region: Int64) {
    var added = 0
    for word in bits.lowerBound / 64...bits.upperBound / 64 {
      let from = max(bits.lowerBound - word * 64, 0)
      let through = min(bits.upperBound - word * 64, 63)
      let mask = UInt64.max << UInt64(from) & UInt64.max >> UInt64(63 - through)
      let old = regions[region]?[word] ?? 0
      added += (mask & ~old).nonzeroBitCount
      regions[region, default: Array(repeating: 0, count: Self.wordsOfRegion)][word] = old | mask
    }
    units += Int64(added)
  }

  /// Doubles the unit: two bits become one.
  private mutating func coarsen() {
    var coarse: [Int64: [UInt64]] = [:]
    units = 0
    for (region, words) in regions {
      let start = Int(region & 1) * Self.wordsOfRegion / 2
      for index in stride(from: 0, to: Self.wordsOfRegion, by: 2) {
        let packed = Self.pack(words[index]) | Self.pack(words[index + 1]) << 32
        coarse[region >> 1, default: Array(repeating: 0, count: Self.wordsOfRegion)][start + index / 2] = packed
        units += Int64(packed.nonzeroBitCount)
      }
    }
    regions = coarse
    unit *= 2
  }

  /// 32 bits, each set if one of two bits of a word is.
  private static func pack(_ word: UInt64) -> UInt64 {
    var bits = (word | word >> 1) & 0x5555_5555_5555_5555
    bits = (bits | bits >> 1) & 0x3333_3333_3333_3333
    bits = (bits | bits >> 2) & 0x0f0f_0f0f_0f0f_0f0f
    bits = (bits | bits >> 4) & 0x00ff_00ff_00ff_00ff
    bits = (bits | bits >> 8) & 0x0000_ffff_0000_ffff
    return (bits | bits >> 16) & 0x0000_0000_ffff_ffff
  }
}
