/// A small generator whose numbers follow from its key alone (splitmix64): the same seed gives the same run.
///
/// Every choice has a generator of its own, keyed by the scenario's seed, what is chosen, the item and the attempt. So
/// a choice does not depend on which of two callers came first, or on how many other choices were made before.
public struct SeededRandom: RandomNumberGenerator, Sendable {
  /// What is chosen; part of the key, so that a delay says nothing about a fault.
  public enum Purpose: UInt64, Sendable {
    case latency = 1, fault, eviction, access
  }

  private static let step: UInt64 = 0x9e37_79b9_7f4a_7c15
  private var state: UInt64

  public init(key: UInt64) { state = key }

  /// - Parameters:
  ///   - rule: The name of the rule that chooses, so that a rule put before it changes nothing; empty for the volume's
  ///     own settings.
  ///   - path: The item's path from the volume's root.
  ///   - attempt: The item's attempt, from 1.
  public init(seed: UInt64, _ purpose: Purpose, rule: String, path: [UInt8], attempt: Int) {
    var key = Self.mix(seed &+ Self.step) ^ purpose.rawValue &* 0xd6e8_feb8_6659_fd93
    key = Self.mix(key ^ Self.hash(rule.utf8))
    key = Self.mix(key ^ Self.hash(path))
    state = Self.mix(key &+ UInt64(bitPattern: Int64(attempt)) &* Self.step)
  }

  public mutating func next() -> UInt64 {
    state &+= Self.step
    return Self.mix(state)
  }

  /// A number in 0..<1, of 53 bits.
  public mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }

  /// FNV-1a.
  private static func hash(_ bytes: some Sequence<UInt8>) -> UInt64 {
    bytes.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  }

  private static func mix(_ input: UInt64) -> UInt64 {
    var value = input
    value = (value ^ (value >> 30)) &* 0xbf58_476d_1ce4_e5b9
    value = (value ^ (value >> 27)) &* 0x94d0_49bb_1331_11eb
    return value ^ (value >> 31)
  }
}
