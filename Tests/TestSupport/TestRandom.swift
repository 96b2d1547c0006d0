/// SplitMix64: the same seed gives the same test.
public struct TestRandom: RandomNumberGenerator, Sendable {
  private var state: UInt64

  public init(seed: UInt64) { state = seed }

  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    return Self.mix(state)
  }

  static func mix(_ value: UInt64) -> UInt64 {
    var mixed = value
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  // What generators ask for again and again.

  /// 0..<count; 0 for a count of 0.
  public mutating func below(_ count: Int) -> Int { count <= 0 ? 0 : Int.random(in: 0..<count, using: &self) }

  /// True once in `count` times.
  public mutating func oneIn(_ count: Int) -> Bool { below(count) == 0 }

  public mutating func byte() -> UInt8 { UInt8.random(in: 0...255, using: &self) }

  /// - Parameter elements: Not empty.
  public mutating func element<Elements: RandomAccessCollection>(of elements: Elements) -> Elements.Element {
    elements[elements.index(elements.startIndex, offsetBy: below(elements.count))]
  }
}
