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
  /// As the kernel writes it: in the caller's mount namespace, "\012" for a line end, perhaps with " (deleted)" behind
  /// it; "[stack]" and the like, or nothing, for memory without a file. Not to be believed before the inode was
  /// compared.
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
    let words = line.split(separator: UInt8(ascii: " "), maxSplits: 4, omittingEmptySubsequences: true)
    guard words.count == 5 else { return nil }
    let range = words[0].split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    let device = words[3].split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
    guard range.count == 2, device.count == 2, words[1].count == 4,
      let start = Hexadecimal.number(range[0]), let end = Hexadecimal.number(range[1]), start < end,
      let offset = Hexadecimal.number(words[2]),
      let major = Hexadecimal.number(device[0]).flatMap({ UInt32(exactly: $0) }),
      let minor = Hexadecimal.number(device[1]).flatMap({ UInt32(exactly: $0) })
    else { return nil }
    let digits = words[4].prefix { $0 != UInt8(ascii: " ") }
    guard let inode = UInt64(String(decoding: digits, as: UTF8.self)) else { return nil }
    self.start = start
    self.end = end
    self.fileOffset = offset
    self.device = DeviceNumber(major: major, minor: minor)
    self.inode = inode
    let rights = words[1]
    self.isReadable = rights[rights.startIndex] == UInt8(ascii: "r")
    self.isExecutable = rights[rights.startIndex + 2] == UInt8(ascii: "x")
    self.path = Array(words[4].dropFirst(digits.count).drop { $0 == UInt8(ascii: " ") })
  }
}
