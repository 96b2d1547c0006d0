@testable import DatalessCore
import Testing

@Suite struct NameHashTests {
  /// SipHash-c-d by the paper, over bytes.
  private func reference(_ bytes: [UInt8], key: (UInt64, UInt64), compression: Int, finalization: Int) -> UInt64 {
    var v: [UInt64] = [
      key.0 ^ 0x736f_6d65_7073_6575, key.1 ^ 0x646f_7261_6e64_6f6d, key.0 ^ 0x6c79_6765_6e65_7261,
      key.1 ^ 0x7465_6462_7974_6573,
    ]
    func rotate(_ index: Int, _ bits: UInt64) { v[index] = v[index] << bits | v[index] >> (64 - bits) }
    func mix(_ a: Int, _ b: Int, _ bits: UInt64) {
      v[a] &+= v[b]
      rotate(b, bits)
      v[b] ^= v[a]
    }
    func rounds(_ count: Int) {
      for _ in 0..<count {
        mix(0, 1, 13)
        rotate(0, 32)
        mix(2, 3, 16)
        mix(0, 3, 21)
        mix(2, 1, 17)
        rotate(2, 32)
      }
    }
    var padded = bytes + [UInt8](repeating: 0, count: 7 - bytes.count % 8)
    padded.append(UInt8(truncatingIfNeeded: bytes.count))
    for start in stride(from: 0, to: padded.count, by: 8) {
      let word = (0..<8).reduce(UInt64(0)) { $0 | UInt64(padded[start + $1]) << UInt64(8 * $1) }
      v[3] ^= word
      rounds(compression)
      v[0] ^= word
    }
    v[2] ^= 0xff
    rounds(finalization)
    return v.reduce(0, ^)
  }

  @Test func itIsSipHash() {
    let key: (UInt64, UInt64) = (0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908)
    // The paper's own vector, of SipHash-2-4.
    #expect(reference((0..<15).map { $0 }, key: key, compression: 2, finalization: 4) == 0xa129_ca61_49be_45e5)
    let hash = NameHash(NameHashKey(low: key.0, high: key.1))
    for length in 0..<70 {
      let name = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 37) }
      let message: [UInt8] = [0x44, 0x33, 0x22, 0x11, 0, 0, 0, 0] + name
      let found = name.withUnsafeBufferPointer { hash.of(parent: 0x1122_3344, name: $0) }
      #expect(found == reference(message, key: key, compression: 1, finalization: 3), "\(length) bytes")
    }
  }

  /// What a hostile SOURCE would do against a known hash: look for names that lie in one chain, and find that another
  /// key scatters them.
  @Test func namesThatCollideUnderOneKeyDoNotUnderAnother() {
    func buckets(_ key: NameHashKey, _ names: [String]) -> [Int] {
      let index = NameHashTable(key: key)
      return names.map { name in
        Array(name.utf8).withUnsafeBufferPointer { Int(index.hash(directory: NodeIndex(rawValue: 1), name: $0) & 1023) }
      }
    }
    let known = NameHashKey(low: 1, high: 2)
    let all = (0..<100_000).map { "name \($0)" }
    let chosen = zip(all, buckets(known, all)).filter { $0.1 == 0 }.map(\.0)
    #expect(chosen.count > 50)
    #expect(Set(buckets(known, chosen)).count == 1)
    #expect(Set(buckets(NameHashKey(low: 1, high: 3), chosen)).count > chosen.count / 2)
  }
}
