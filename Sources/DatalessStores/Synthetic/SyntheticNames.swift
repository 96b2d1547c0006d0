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

  static func directory(_ hash: SyntheticHash, inode: UInt64, ordinal: Int) -> [UInt8] {
    var name: [UInt8] = []
    append(directoryWords[hash.index(.name, inode, below: directoryWords.count)], to: &name)
    append(ordinal: ordinal, to: &name)
    return name
  }

  static func file(_ hash: SyntheticHash, inode: UInt64, ordinal: Int) -> [UInt8] {
    var name: [UInt8] = []
    name.reserveCapacity(24)
    let choice = hash.index(.name, inode, below: fileWords.count * extensions.count)
    append(fileWords[choice % fileWords.count], to: &name)
    append(ordinal: ordinal, to: &name)
    name.append(UInt8(ascii: "."))
    append(extensions[choice / fileWords.count], to: &name)
    return name
  }

  private static func append(_ word: StaticString, to name: inout [UInt8]) {
    word.withUTF8Buffer { name.append(contentsOf: $0) }
  }

  /// `-0042`: at least four digits, so that names sort as they count.
  private static func append(ordinal: Int, to name: inout [UInt8]) {
    name.append(UInt8(ascii: "-"))
    var divisor = 1000
    while ordinal / divisor >= 10 { divisor *= 10 }
    while divisor > 0 {
      name.append(UInt8(ascii: "0") + UInt8(ordinal / divisor % 10))
      divisor /= 10
    }
  }
}
