/// Cuts a stream of bytes into lines, without their newlines.
struct LineSplitter {
  private var buffer: [UInt8] = []
  private var start = 0
  private var searched = 0

  mutating func append(_ bytes: some Collection<UInt8>) {
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
