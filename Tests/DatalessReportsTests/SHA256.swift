/// SHA-256 (FIPS 180-4), by which a page names the one script that its browser may run: the product has the results
/// alone.
enum SHA256 {
  private static let constants: [UInt32] = primes(64).map { fraction(cubeRoot: $0) }
  private static let initial: [UInt32] = primes(8).map { fraction(squareRoot: $0) }

  /// 32 bytes.
  static func digest(_ bytes: [UInt8]) -> [UInt8] {
    var message = bytes + [0x80]
    message += [UInt8](repeating: 0, count: (120 - message.count % 64) % 64)
    let bits = UInt64(bytes.count) * 8
    for shift in stride(from: 56, through: 0, by: -8) {
      message.append(UInt8(truncatingIfNeeded: bits >> UInt64(shift)))
    }
    var state = initial
    for block in stride(from: 0, to: message.count, by: 64) { compress(message[block..<block + 64], &state) }
    return state.flatMap { word in [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: word >> UInt32($0)) } }
  }

  private static func compress(_ block: ArraySlice<UInt8>, _ state: inout [UInt32]) {
    var words = [UInt32](repeating: 0, count: 64)
    for (index, byte) in block.enumerated() { words[index / 4] = words[index / 4] << 8 | UInt32(byte) }
    for index in 16..<64 {
      let (early, late) = (words[index - 15], words[index - 2])
      let first = rotated(early, 7) ^ rotated(early, 18) ^ early >> 3
      let second = rotated(late, 17) ^ rotated(late, 19) ^ late >> 10
      words[index] = words[index - 16] &+ first &+ words[index - 7] &+ second
    }
    var work = state
    for index in 0..<64 {
      let (a, e) = (work[0], work[4])
      let choice = (e & work[5]) ^ (~e & work[6])
      let majority = (a & work[1]) ^ (a & work[2]) ^ (work[1] & work[2])
      let sum = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)
      let first = work[7] &+ sum &+ choice &+ constants[index] &+ words[index]
      let second = (rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) &+ majority
      work = [first &+ second, a, work[1], work[2], work[3] &+ first, e, work[5], work[6]]
    }
    for index in 0..<8 { state[index] = state[index] &+ work[index] }
  }

  private static func rotated(_ word: UInt32, _ count: UInt32) -> UInt32 { word >> count | word << (32 - count) }

  private static func primes(_ count: Int) -> [UInt64] {
    var found: [UInt64] = []
    var candidate: UInt64 = 2
    while found.count < count {
      if found.allSatisfy({ candidate % $0 != 0 }) { found.append(candidate) }
      candidate += 1
    }
    return found
  }

  /// The first 32 bits behind the point of a root, found bit by bit.
  private static func fraction(squareRoot number: UInt64) -> UInt32 {
    root(number) { value in value.multipliedFullWidth(by: value) }
  }

  private static func fraction(cubeRoot number: UInt64) -> UInt32 {
    var root: UInt64 = 0
    for bit in stride(from: 34, through: 0, by: -1) {
      let next = root | 1 << UInt64(bit)
      // The cube of next through 2^96 is at most the number: next has at most 35 bits.
      let square = next.multipliedFullWidth(by: next)
      let low = square.low.multipliedFullWidth(by: next)
      let high = square.high * next + low.high
      if high < number << 32 || (high == number << 32 && low.low == 0) { root = next }
    }
    return UInt32(truncatingIfNeeded: root)
  }

  private static func root(_ number: UInt64, _ square: (UInt64) -> (high: UInt64, low: UInt64)) -> UInt32 {
    var root: UInt64 = 0
    for bit in stride(from: 37, through: 0, by: -1) {
      let next = root | 1 << UInt64(bit)
      let value = square(next)
      if value.high < number || (value.high == number && value.low == 0) { root = next }
    }
    return UInt32(truncatingIfNeeded: root)
  }
}
