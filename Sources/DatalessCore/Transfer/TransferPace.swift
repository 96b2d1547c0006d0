/// How fast the bytes of a transfer come. Decided at its start: a transfer under way keeps its pace.
struct TransferPace {
  /// Whether there is a line that all transfers share.
  let sharesLine: Bool
  /// Bytes per second of this transfer alone.
  let ownRate: Int64?

  func makeOwnLine() -> BandwidthLink? { ownRate.map(BandwidthLink.init(bytesPerSecond:)) }

  /// How many bytes are carried at a time, by the slower of the two lines; nil when bytes come as fast as the disk.
  func chunk(_ engine: Engine) -> Int64? {
    guard sharesLine || ownRate != nil else { return nil }
    let rates = [engine.sharedRate, ownRate].compactMap { $0 }
    return rates.map { BandwidthLink(bytesPerSecond: $0).chunkSize }.min() ?? 1 << 20
  }

  /// Occupies both lines. - Returns: When the bytes have arrived; nil if there is no line any more.
  func reserve(_ bytes: Int64, ownLine: inout BandwidthLink?, _ engine: Engine) -> MonotonicTime? {
    let shared = engine.reserveBandwidth(bytes)
    let own = ownLine?.reserve(bytes, now: engine.timer.now)
    return [shared, own].compactMap { $0 }.max()
  }
}
