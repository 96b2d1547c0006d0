/// What a file of CPython says about itself: where in its first mapping the runtime and the version are.
///
/// Made in the symbol process, which parses callers' files, once for each build; the capture process is told.
public struct PythonImage: Sendable, Equatable {
  /// In bytes from the address at which the file's first byte is mapped.
  public let runtime: UInt64
  /// nil before 3.11, which has no such symbol.
  public let version: UInt64?

  /// Whether a file is CPython, also before 3.7, which has no runtime to begin at. All versions have this function; a
  /// program that starts one of them only calls it.
  static func isOfAnyVersion<Source: ByteSource>(_ elf: ElfFile<Source>) -> Bool {
    elf.address(ofSymbol: "Py_GetVersion") != nil
  }

  /// nil for a file that is not CPython 3.7 or later.
  public init?<Source: ByteSource>(_ elf: ElfFile<Source>) {
    guard let first = elf.address(ofFileOffset: 0), let runtime = elf.address(ofSymbol: "_PyRuntime"),
      runtime >= first
    else { return nil }
    self.runtime = runtime - first
    version = elf.address(ofSymbol: "Py_Version").flatMap { $0 >= first ? $0 - first : nil }
  }

  public init(runtime: UInt64, version: UInt64?) {
    self.runtime = runtime
    self.version = version
  }
}

/// CPython in a process: which version, and where its runtime is.
public struct PythonProgram: Sendable, Equatable {
  public let layout: PythonLayout
  public let runtime: UInt64

  public enum Search: Sendable, Equatable {
    case found(PythonProgram)
    /// Python, of a version whose structures are not known: "frames not readable".
    case unknownVersion
    case notPython
  }

  /// - Parameter image: What is known of a mapped file; nil for one that is not CPython.
  public static func find(
    in mappings: MappingTable, memory: some CallerMemory, image: (Mapping) -> PythonImage?
  ) -> Search {
    for mapping in mappings.mappings where mapping.fileOffset == 0 && isCandidate(mapping) {
      guard let image = image(mapping) else { continue }
      let (runtime, overflow) = mapping.start.addingReportingOverflow(image.runtime)
      guard !overflow, let minor = minor(of: mapping, image: image, memory: memory),
        let layout = layout(minor: minor, runtime: runtime, memory: memory)
      else {
        return .unknownVersion
      }
      return .found(PythonProgram(layout: layout, runtime: runtime))
    }
    return .notPython
  }

  /// By its name: python, python3, python3.11, libpython3.11.so.1.0. Embedded elsewhere it is not found.
  static func isCandidate(_ mapping: Mapping) -> Bool {
    guard mapping.isFile else { return false }
    let name = fileName(mapping)
    return name.starts(with: "python".utf8) || name.starts(with: "libpython".utf8)
  }

  private static func fileName(_ mapping: Mapping) -> ArraySlice<UInt8> {
    mapping.path.lastIndex(of: UInt8(ascii: "/")).map { mapping.path[($0 + 1)...] } ?? mapping.path[...]
  }

  private static func minor(of mapping: Mapping, image: PythonImage, memory: some CallerMemory) -> Int? {
    if let version = image.version {
      let (address, overflow) = mapping.start.addingReportingOverflow(version)
      // As PY_VERSION_HEX: 0x030b02f0 for 3.11.2.
      guard !overflow, let number = memory.word(UInt64.self, at: address), number >> 24 & 0xff == 3 else { return nil }
      return Int(number >> 16 & 0xff)
    }
    let name = String(decoding: fileName(mapping), as: UTF8.self)
    guard let place = name.firstRange(of: "python3.") else { return nil }
    return Int(name[place.upperBound...].prefix { $0.isASCII && $0.isNumber })
  }

  private static func layout(minor: Int, runtime: UInt64, memory: some CallerMemory) -> PythonLayout? {
    if let layout = PythonLayout(minor: minor) { return layout }
    return memory.bytes(at: runtime, count: PythonLayout.descriptionBytes)
      .flatMap { PythonLayout(described: $0, minor: minor) }
  }
}
