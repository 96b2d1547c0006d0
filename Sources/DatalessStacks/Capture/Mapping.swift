/// The device of a mapped file, as /proc/PID/maps has it.
public struct DeviceNumber: Sendable, Hashable {
  public let major: UInt32
  public let minor: UInt32

  public init(major: UInt32, minor: UInt32) {
    self.major = major
    self.minor = minor
  }
}

/// A line of /proc/PID/maps.
public struct Mapping: Sendable, Equatable {
  public let start: UInt64
  /// Behind the last byte; above `start`.
  public let end: UInt64
  public let fileOffset: UInt64
  public let device: DeviceNumber
  /// 0 where no file is mapped.
  public let inode: UInt64
  public let isReadable: Bool
  public let isExecutable: Bool
  /// As the kernel knows it: in the caller's mount namespace, perhaps with " (deleted)" behind it; "[stack]" and the
  /// like, or nothing, for memory without a file. Not to be believed before the inode was compared.
  public let path: [UInt8]

  public var isFile: Bool { inode != 0 && path.first == UInt8(ascii: "/") }

  public func contains(_ address: UInt64) -> Bool { address >= start && address < end }

  /// Where in the file the byte at `address` is; nil outside.
  public func fileOffset(of address: UInt64) -> UInt64? {
    guard isFile, contains(address) else { return nil }
    let (sum, overflow) = fileOffset.addingReportingOverflow(address - start)
    return overflow ? nil : sum
  }

  /// As another process has told it.
  init(
    executableFrom start: UInt64, to end: UInt64, fileOffset: UInt64, device: DeviceNumber, inode: UInt64, path: [UInt8]
  ) {
    self.start = start
    self.end = end
    self.fileOffset = fileOffset
    self.device = device
    self.inode = inode
    isReadable = false
    isExecutable = true
    self.path = path
  }

  /// - Parameter line: Without its line end.
  init?(_ line: ArraySlice<UInt8>) {
    // Five columns, then spaces, then the path, which may have spaces in it.
    var columns = MappingColumns(rest: line)
    guard let start = columns.hexadecimal(before: UInt8(ascii: "-")), let end = columns.hexadecimal(), start < end,
      let rights = columns.word(), rights.count == 4, let offset = columns.hexadecimal(),
      let major = columns.hexadecimal(before: UInt8(ascii: ":")).flatMap({ UInt32(exactly: $0) }),
      let minor = columns.hexadecimal().flatMap({ UInt32(exactly: $0) }), let inode = columns.decimal()
    else { return nil }
    self.start = start
    self.end = end
    self.fileOffset = offset
    self.device = DeviceNumber(major: major, minor: minor)
    self.inode = inode
    self.isReadable = rights[rights.startIndex] == UInt8(ascii: "r")
    self.isExecutable = rights[rights.startIndex + 2] == UInt8(ascii: "x")
    self.path = Self.path(columns.rest)
  }

  private static let escapedLineEnd = Array("\\012".utf8)

  /// The kernel writes a line end so, and nothing else: a backslash in a name stays one.
  private static func path(_ text: ArraySlice<UInt8>) -> [UInt8] {
    guard text.contains(UInt8(ascii: "\\")) else { return Array(text) }
    var path: [UInt8] = []
    var rest = text
    while let byte = rest.first {
      let isLineEnd = rest.starts(with: escapedLineEnd)
      path.append(isLineEnd ? UInt8(ascii: "\n") : byte)
      rest = rest.dropFirst(isLineEnd ? escapedLineEnd.count : 1)
    }
    return path
  }
}

/// The columns of a line, from left to right; each takes the spaces behind it along. Allocates nothing: a program has
/// hundreds of such lines.
private struct MappingColumns {
  private static let space = UInt8(ascii: " ")
  private(set) var rest: ArraySlice<UInt8>

  /// Up to the next space, or the line's end.
  mutating func word() -> ArraySlice<UInt8>? { word(before: Self.space) }

  /// - Parameter end: A space may be missing at the line's end, another character may not.
  private mutating func word(before end: UInt8) -> ArraySlice<UInt8>? {
    let word = rest.prefix { $0 != end && $0 != Self.space }
    rest = rest[word.endIndex...]
    if end != Self.space {
      guard rest.first == end else { return nil }
      rest = rest.dropFirst()
    } else {
      rest = rest.drop { $0 == Self.space }
    }
    return word.isEmpty ? nil : word
  }

  mutating func hexadecimal(before end: UInt8 = space) -> UInt64? {
    word(before: end).flatMap { Hexadecimal.number($0) }
  }

  mutating func decimal() -> UInt64? {
    guard let digits = word() else { return nil }
    var value: UInt64 = 0
    for digit in digits {
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
      let (tenfold, isTooLong) = value.multipliedReportingOverflow(by: 10)
      let (sum, isTooLarge) = tenfold.addingReportingOverflow(UInt64(digit - UInt8(ascii: "0")))
      guard !isTooLong, !isTooLarge else { return nil }
      value = sum
    }
    return value
  }
}
