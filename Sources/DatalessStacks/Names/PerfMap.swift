/// The names of generated code that a program tells perf: /tmp/perf-PID.map, of node --perf-basic-prof, jcmd's
/// Compiler.perfmap, python -X perf.
///
/// The file is the caller's, of any size and content; nothing of it is kept but the names that are asked for.
public enum PerfMap {
  // LIMIT: bytes of a file; what is behind is not looked at. A long-running JVM writes some 20 MB.
  public static let bytesMax = 128 << 20
  // LIMIT: bytes of a name; what is longer is cut.
  static let nameMax = 1024

  /// One pass for all addresses of a stack.
  ///
  /// - Parameter text: Lines of a beginning, a size, both hexadecimal, with 0x in front or without, and a name. Others
  ///   are skipped: the program may be writing. Where lines overlap, the later one counts: code that was thrown away
  ///   made room for it.
  public static func names(of addresses: Set<UInt64>, in text: [UInt8]) -> [UInt64: [UInt8]] {
    let wanted = addresses.sorted()
    var names: [UInt64: [UInt8]] = [:]
    guard !wanted.isEmpty else { return names }
    text.withUnsafeBufferPointer { bytes in
      var start = 0
      while let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) {
        if let line = Line(bytes[start..<end]) {
          for index in firstIndex(in: wanted, from: line.start)..<wanted.count {
            guard wanted[index] - line.start < line.size else { break }
            names[wanted[index]] = Array(line.name.prefix(nameMax))
          }
        }
        start = end + 1
      }
    }
    return names
  }

  private struct Line {
    let start: UInt64
    let size: UInt64
    let name: Slice<UnsafeBufferPointer<UInt8>>

    init?(_ line: Slice<UnsafeBufferPointer<UInt8>>) {
      let space = UInt8(ascii: " ")
      guard let first = line.firstIndex(of: space), let start = Self.number(line[..<first]),
        let second = line[(first + 1)...].firstIndex(of: space),
        let size = Self.number(line[(first + 1)..<second]), second + 1 < line.endIndex
      else { return nil }
      self.start = start
      self.size = size
      name = line[(second + 1)...]
    }

    /// With 0x in front, as the JDK's jcmd writes, or without, as node and Python do.
    private static func number(_ word: Slice<UnsafeBufferPointer<UInt8>>) -> UInt64? {
      let hasPrefix = word.starts(with: "0x".utf8) || word.starts(with: "0X".utf8)
      return Hexadecimal.number(hasPrefix ? word.dropFirst(2) : word)
    }
  }

  private static func firstIndex(in wanted: [UInt64], from start: UInt64) -> Int {
    var (low, high) = (0, wanted.count)
    while low < high {
      let middle = (low + high) / 2
      if wanted[middle] < start { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
