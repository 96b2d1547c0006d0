/// Cuts a stream of bytes into lines, without their newlines.
struct LineSplitter {
  /// LIMIT: the longest line. Who answers may be another user's program.
  static let lineBytesMax = 16 << 20

  private var buffer: [UInt8] = []
  private var start = 0
  private var searched = 0

  /// - Throws: `ControlError.malformed` when a line gets longer than `lineBytesMax`.
  mutating func append(_ bytes: some Collection<UInt8>) throws(ControlError) {
    guard buffer.count - start <= Self.lineBytesMax else {
      throw ControlError(code: .malformed, message: "the daemon's answer has a line of more than 16 MiB")
    }
    if start > 0 {
      buffer.removeFirst(start)
      searched -= start
      start = 0
    }
    buffer += bytes
  }

  /// The next whole line; nil until more is appended.
  mutating func next() -> [UInt8]? {
    guard let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) else {
      searched = buffer.count
      return nil
    }
    defer {
      start = end + 1
      searched = start
    }
    return Array(buffer[start..<end])
  }
}
