/// Names for made-up items: a word, the ordinal in its directory (which makes it unique there), and for files an extension.
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
    append(word, ordinal, nil, to: &name)
  }

  static func appendFile(_ hash: SyntheticHash, inode: UInt64, ordinal: Int, to name: inout [UInt8]) {
    let choice = hash.index(.name, inode, below: fileWords.count * extensions.count)
    append(fileWords[choice % fileWords.count], ordinal, extensions[choice / fileWords.count], to: &name)
  }

  /// `word-0042` or `word-0042.extension`: at least four digits, so that names sort as they count.
  private static func append(_ word: StaticString, _ ordinal: Int, _ suffix: StaticString?, to name: inout [UInt8]) {
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
