/// How much of a file was read, by everybody or by one program.
enum FileUse: String, Sendable, CaseIterable {
  case openedNotRead = "opened_not_read"
  case headerOnly = "header_only"
  case inPart = "in_part"
  case whole
  /// Less than all of it was seen being read, and more may have been read unseen, or at places that the log does not name.
  case unknown

  /// Header only: all that was read lies in the first 64 KiB, and is at most half of the file.
  static let headerBytesMax: Int64 = 64 << 10

  /// - Parameter isUnseen: Whether there may have been reads that the kernel served alone.
  init(size: Int64, coverage: ReadCoverage, isUnseen: Bool = false) {
    if size > 0, coverage.bytesAtLeast >= size {
      self = .whole
    } else if isUnseen || (size > 0 && coverage.bytesAtMost >= size) {
      self = .unknown
    } else if coverage.bytesAtMost <= 0 {
      self = .openedNotRead
    } else if coverage.highWaterMark <= Self.headerBytesMax, coverage.highWaterMark <= size / 2 {
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
    case .unknown: "unknown"
    }
  }
}
