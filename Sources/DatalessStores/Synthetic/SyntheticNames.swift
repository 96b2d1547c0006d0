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

/// Names for made-up items: a word, the ordinal in its directory (which makes it unique there), and for files an
/// extension.
enum SyntheticNames {
  private static let directoryWords: [StaticString] = [
    "archive", "assets", "backup", "clients", "docs", "drafts", "exports", "finance", "images", "invoices", "letters",
    "media", "meetings", "notes", "photos", "projects", "reports", "scans", "shared", "source", "talks", "travel",
  ]

  private static let fileWords: [StaticString] = [
    "agenda", "analysis", "budget", "concept", "contract", "diagram", "estimate", "family", "holiday", "house",
    "image", "index", "interview", "lecture", "letter", "manual", "minutes", "mountain", "notes", "offer", "order",
    "plan", "portrait", "proposal", "receipt", "recipe", "recording", "report", "review", "sketch", "slides",
    "summary", "survey", "table", "ticket", "valley",
  ]

  private static let extensions: [StaticString] = [
    "jpg", "jpg", "jpg", "pdf", "pdf", "docx", "xlsx", "pptx", "txt", "md", "png", "png", "heic", "mov", "mp4", "mp3",
    "zip", "csv", "json", "html", "psd", "c", "swift", "py",
  ]

  static func appendDirectory(_ hash: SyntheticHash, inode: UInt64, ordinal: Int, to name: inout [UInt8]) {
    let word = directoryWords[hash.index(.name, inode, below: directoryWords.count)]
    append(word, ordinal: ordinal, suffix: nil, to: &name)
  }

  static func appendFile(_ hash: SyntheticHash, inode: UInt64, ordinal: Int, to name: inout [UInt8]) {
    let choice = hash.index(.name, inode, below: fileWords.count * extensions.count)
    append(
      fileWords[choice % fileWords.count], ordinal: ordinal, suffix: extensions[choice / fileWords.count], to: &name)
  }

  /// `word-0042` or `word-0042.extension`: at least four digits, so that names sort as they count.
  private static func append(_ word: StaticString, ordinal: Int, suffix: StaticString?, to name: inout [UInt8]) {
    // The longest word has 9 letters, a number has at most 19 digits, an extension 5.
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 64) { buffer in
      guard let base = buffer.baseAddress else { return }
      var length = word.utf8CodeUnitCount
      base.update(from: word.utf8Start, count: length)
      buffer[length] = UInt8(ascii: "-")
      var digits = 4
      var bound = 10_000
      while ordinal >= bound, digits < 18 {
        digits += 1
        bound *= 10
      }
      var rest = ordinal
      for position in stride(from: length + digits, to: length, by: -1) {
        buffer[position] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
        rest /= 10
      }
      length += digits + 1
      if let suffix {
        buffer[length] = UInt8(ascii: ".")
        (base + length + 1).update(from: suffix.utf8Start, count: suffix.utf8CodeUnitCount)
        length += suffix.utf8CodeUnitCount + 1
      }
      name.append(contentsOf: UnsafeBufferPointer(rebasing: buffer[..<length]))
    }
  }
}

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
