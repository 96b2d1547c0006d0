/// The one source of everything that is made up in a synthetic tree: splitmix64, keyed by the seed.
struct SyntheticHash: Sendable {
  static let step: UInt64 = 0x9e37_79b9_7f4a_7c15

  /// What is made up; part of the key, so that a file's size says nothing about its time.
  enum Purpose: UInt64 {
    case name = 1, size, octave, seconds, nanoseconds, content
  }

  private let key: UInt64

  init(seed: UInt64) { key = Self.mix(seed &+ Self.step) }

  /// A number for an item, spread evenly over 64 bits. Different items get different numbers.
  func number(_ purpose: Purpose, _ inode: UInt64) -> UInt64 {
    Self.mix(Self.mix(key ^ purpose.rawValue &* 0xd6e8_feb8_6659_fd93) &+ inode &* Self.step)
  }

  /// A number for an item in `0..<count`.
  func index(_ purpose: Purpose, _ inode: UInt64, below count: Int) -> Int {
    Int(number(purpose, inode).multipliedFullWidth(by: UInt64(count)).high)
  }

  /// The finalizer of splitmix64, a bijection in which each bit of the input moves each bit of the output.
  @inline(__always)
  static func mix(_ input: UInt64) -> UInt64 {
    var value = input
    value = (value ^ (value >> 30)) &* 0xbf58_476d_1ce4_e5b9
    value = (value ^ (value >> 27)) &* 0x94d0_49bb_1331_11eb
    return value ^ (value >> 31)
  }
}
