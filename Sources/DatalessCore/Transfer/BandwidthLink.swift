/// One line of a given rate that all fetches share: each chunk occupies it for the time its bytes take.
///
/// Transfers interleave chunk by chunk, so that each of n concurrent transfers sees about 1/n of the rate.
struct BandwidthLink {
  let bytesPerSecond: Int64
  private var freeAt = MonotonicTime(nanoseconds: 0)

  init(bytesPerSecond: Int64) {
    self.bytesPerSecond = max(1, bytesPerSecond)
  }

  /// Chunks that take about 20 ms each, so that sharing is fair and cancellation prompt; 1 B to 1 MiB.
  var chunkSize: Int64 { min(max(bytesPerSecond / 50, 1), 1 << 20) }

  /// Occupies the line for `bytes`. - Returns: When the last of them has arrived.
  mutating func reserve(_ bytes: Int64, now: MonotonicTime) -> MonotonicTime {
    let start = max(now, freeAt)
    let (whole, rest) = bytes.quotientAndRemainder(dividingBy: bytesPerSecond)
    let wholeSeconds = Nanoseconds.seconds(whole)
    guard wholeSeconds < .max else { return MonotonicTime(nanoseconds: .max) }
    freeAt = start + wholeSeconds + Nanoseconds(Int64((Double(rest) / Double(bytesPerSecond) * 1e9).rounded(.up)))
    return freeAt
  }
}
