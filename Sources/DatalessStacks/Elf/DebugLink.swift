/// The .gnu_debuglink of a stripped file: the name of the file that has its debug information, and that file's CRC.
public struct DebugLink: Sendable, Equatable {
  public let name: String
  public let checksum: UInt32

  /// - Parameter section: The name, a zero, padding to 4 bytes, the checksum.
  /// - Returns: nil for a name with a slash, `.` or `..`: the file belongs to somebody else, and would lead wherever
  /// its
  ///   owner wants (S19).
  public init?(_ section: [UInt8]) {
    guard let bytes = section.text(at: 0, limit: 256), !bytes.isEmpty, !bytes.contains(UInt8(ascii: "/")),
      let checksum = section.word(UInt32.self, at: (bytes.count + 4) / 4 * 4)
    else { return nil }
    let name = String(decoding: bytes, as: UTF8.self)
    guard name != ".", name != "..", name.utf8.elementsEqual(bytes) else { return nil }
    self.name = name
    self.checksum = checksum
  }

  /// Where the file is looked for, in this order: beside the program, below it, and in the system's directory.
  ///
  /// - Parameter program: The absolute path of the program, in its mount namespace.
  public func candidates(program: String) -> [String] {
    guard program.hasPrefix("/"), let slash = program.lastIndex(of: "/") else { return [] }
    let directory = String(program[..<slash])
    return ["\(directory)/\(name)", "\(directory)/.debug/\(name)", "/usr/lib/debug\(directory)/\(name)"]
      .filter { $0 != program }
  }
}

/// CRC-32 as in zlib, for whole files in parts.
public struct Checksum: Sendable {
  private static let table: [UInt32] = (0..<256).map { byte in
    (0..<8).reduce(UInt32(byte)) { value, _ in value & 1 == 0 ? value >> 1 : value >> 1 ^ 0xedb8_8320 }
  }
  private var state: UInt32 = .max

  public init() {}

  public var value: UInt32 { ~state }

  public mutating func add(_ bytes: [UInt8]) {
    state = Self.table.withUnsafeBufferPointer { table in
      bytes.reduce(state) { table[Int(($0 ^ UInt32($1)) & 0xff)] ^ $0 >> 8 }
    }
  }
}
