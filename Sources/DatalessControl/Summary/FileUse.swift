/// How much of a file was read through one or more handles.
enum FileUse: String, Sendable, CaseIterable {
  case openedNotRead = "opened_not_read"
  case headerOnly = "header_only"
  case inPart = "in_part"
  case whole

  /// Header only: all that was read lies in the first 64 KiB, and is at most half of the file.
  static let headerBytesMax: Int64 = 64 << 10

  init(size: Int64, covered: Int64, highWaterMark: Int64) {
    if covered <= 0 {
      self = .openedNotRead
    } else if covered >= size {
      self = .whole
    } else if highWaterMark <= Self.headerBytesMax, highWaterMark <= size / 2 {
      self = .headerOnly
    } else {
      self = .inPart
    }
  }

  var words: String {
    switch self {
    case .openedNotRead: "opened, not read"
    case .headerOnly: "header only"
    case .inPart: "read in part"
    case .whole: "read whole"
    }
  }
}
