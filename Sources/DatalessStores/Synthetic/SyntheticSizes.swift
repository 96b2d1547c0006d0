/// Sizes of made-up files: each doubling between the smallest and the largest size is as likely as any other.
///
/// In integers only, because logarithms of different C libraries differ in the last bit and the tree must not.
struct SyntheticSizes: Sendable {
  let range: ClosedRange<Int64>
  private let octaves: [ClosedRange<Int64>]

  init(_ range: ClosedRange<Int64>) {
    self.range = range
    var octaves: [ClosedRange<Int64>] = []
    var low = range.lowerBound
    while true {
      let end = low == 0 ? 0 : min(low * 2 - 1, range.upperBound)
      // The largest size itself, left alone after a last whole doubling, belongs to that one.
      let high = end + 1 == range.upperBound && low > 0 ? range.upperBound : end
      octaves.append(low...high)
      if high >= range.upperBound { break }
      low = high + 1
    }
    self.octaves = octaves
  }

  func size(_ hash: SyntheticHash, inode: UInt64) -> Int64 {
    let octave = octaves[hash.index(.octave, inode, below: octaves.count)]
    return octave.lowerBound + Int64(hash.index(.size, inode, below: octave.count))
  }
}
