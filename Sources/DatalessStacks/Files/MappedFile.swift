internal import Glibc

/// What came of the search for a file of debug information.
enum DebugFileSearch: Equatable {
  /// Its descriptor, which is the asker's to close.
  case found(Int32)
  case missing
  /// Nobody could look: the process, in whose directories it would be, has gone.
  case unknown
}

/// What is known of one program or library, and of its file of debug information. For one thread.
final class MappedFile {
  /// A function, and a line of it.
  struct Name {
    /// Demangled.
    var symbol: [UInt8] = []
    var file: [UInt8] = []
    var line = 0
  }

  let descriptor: Int32
  let elf: ElfFile<FileBytes>
  private let debug: ElfFile<FileBytes>?
  private let debugDescriptor: Int32?
  let tables: DwarfFile?
  let buildID: BuildID?
  /// Whether a file of debug information may be there that could not be looked for.
  let isDebugUnknown: Bool
  // Made when first asked for.
  lazy var functions =
    elf.fullFunctions ?? debug.flatMap { $0.fullFunctions } ?? elf.exportedFunctions
  private lazy var frames = FrameTable(elf)
  private lazy var goSection = GoModule.functionTable(elf)
  private lazy var goData = GoModule.functionData(elf)
  private var names: [UInt64: Name] = [:]
  private var inlinedCalls: [UInt64: [InlinedCall]] = [:]
  // LIMIT: names kept of one file.
  private static let namesMax = 8192

  /// - Parameters:
  ///   - descriptor: Closed with this, or at once when it is no ELF file.
  ///   - findDebug: Its file of debug information; asked if it has none itself.
  init?(descriptor: Int32, library: DwarfLibrary?, findDebug: (BuildID?, DebugLink?) -> DebugFileSearch) {
    guard let elf = ElfFile(FileBytes(descriptor: descriptor)) else {
      close(descriptor)
      return nil
    }
    self.descriptor = descriptor
    self.elf = elf
    buildID = elf.buildID
    let link = elf.section(named: ".gnu_debuglink").flatMap { DebugLink($0) }
    let needsDebug = !elf.hasSection(named: ".debug_info") && (buildID != nil || link != nil)
    let search = needsDebug ? findDebug(buildID, link) : .missing
    isDebugUnknown = search == .unknown
    let found = Self.debugFile(search, of: buildID, link: link)
    debugDescriptor = found?.descriptor
    debug = found?.elf
    tables = library.flatMap { DwarfFile(descriptor, debug: found?.descriptor, library: $0) }
  }

  deinit {
    close(descriptor)
    if let debugDescriptor { close(debugDescriptor) }
  }

  /// Only a file that says by build id or checksum that it belongs to this one: lines of another build are wrong lines.
  private static func debugFile(
    _ search: DebugFileSearch, of buildID: BuildID?, link: DebugLink?
  ) -> (descriptor: Int32, elf: ElfFile<FileBytes>)? {
    guard case .found(let descriptor) = search else { return nil }
    let bytes = FileBytes(descriptor: descriptor)
    guard let debug = ElfFile(bytes), isDebugFile(debug, bytes, of: buildID, link: link) else {
      close(descriptor)
      return nil
    }
    return (descriptor, debug)
  }

  private static func isDebugFile(
    _ debug: ElfFile<FileBytes>, _ bytes: FileBytes, of buildID: BuildID?, link: DebugLink?
  ) -> Bool {
    if let buildID, let its = debug.buildID { return its == buildID }
    guard let link else { return false }
    return bytes.checksum == link.checksum
  }

  /// The function in which an address lies, by its symbol, or else by the unwind tables: without a name then.
  func function(at address: UInt64) -> (start: UInt64, name: [UInt8])? {
    let symbol = functions?.function(at: address)
    // One without a size is believed to end where the next one begins.
    if let symbol, symbol.size > 0 { return (symbol.address, symbol.name) }
    let range = frames?.function(at: address)
    if let symbol, range.map({ $0.lowerBound <= symbol.address }) ?? true { return (symbol.address, symbol.name) }
    return range.map { ($0.lowerBound, []) }
  }

  func name(at address: UInt64, _ demangler: Demangler) -> Name {
    if let known = names[address] { return known }
    var name = Name()
    if let symbol = functions?.function(at: address) { name.symbol = demangler.name(of: symbol.name) }
    if let line = tables?.line(at: address) { (name.file, name.line) = line }
    if names.count >= Self.namesMax { names.removeAll() }
    names[address] = name
    return name
  }

  /// The functions that are inlined at an address, innermost first, each with the place of its call.
  ///
  /// - Returns: nil where nothing tells which they are: then the line belongs to none that is known.
  func inlined(at address: UInt64, _ demangler: Demangler) -> [InlinedCall]? {
    if let known = inlinedCalls[address] { return known }
    let found: [InlinedCall]
    switch tables?.inlined(at: address) ?? .known([]) {
    case .known(let calls): found = calls
    case .unread where isOwnLine(at: address): found = []
    case .unread, .tooMany: return nil
    }
    let calls = found.map { call in
      InlinedCall(function: demangler.name(of: call.function), file: call.file, line: call.line)
    }
    if inlinedCalls.count >= Self.namesMax { inlinedCalls.removeAll() }
    inlinedCalls[address] = calls
    return calls
  }

  /// Whether an address has a line of the very function, by the table of lines alone: in the file in which the function
  /// begins, and from its first line to that of its return. The text of what is inlined lies before or behind it.
  private func isOwnLine(at address: UInt64) -> Bool {
    guard let tables, let function = functions?.function(at: address), function.size > 2 else { return false }
    let (end, overflow) = function.address.addingReportingOverflow(function.size)
    // A return, and not the distance of a short jump. Of one that is not the last instruction nobody knows where it is.
    guard !overflow, let code = elf.bytes(atAddress: end - 2, count: 2), code[1] == 0xc3, code[0] != 0xeb,
      code[0] & 0xf0 != 0x70, let own = tables.line(at: address), let first = tables.firstLine(at: function.address),
      let last = tables.line(at: end - 1)
    else { return false }
    return own.file == first.file && own.file == last.file && first.line <= own.line && own.line <= last.line
  }

  func goFunctions(bias: UInt64) -> GoFunctionTable? { goSection.flatMap { GoFunctionTable($0, bias: bias) } }

  /// What a Go program keeps about its functions beside their table.
  func goData(at offset: UInt64, count: UInt64) -> [UInt8]? {
    goData.flatMap { elf.bytes(atAddress: $0 &+ offset, count: count) }
  }
}

extension FileBytes {
  // LIMIT: bytes that are summed up.
  private static var checkedMax: UInt64 { 256 << 20 }

  /// CRC-32 of the whole file; nil when it is too large, or shrinks meanwhile.
  var checksum: UInt32? {
    guard let size, size <= Self.checkedMax else { return nil }
    var checksum = Checksum()
    for offset in stride(from: 0, to: size, by: 1 << 20) {
      guard let part = bytes(at: offset, count: min(1 << 20, size - offset)) else { return nil }
      checksum.add(part)
    }
    return checksum.value
  }
}

/// Files that were opened, so that the next stack of the same program need not. For one thread.
final class FileCache {
  /// A file and its content: rewritten, it is another.
  private struct Key: Hashable {
    let device: DeviceNumber
    let inode: UInt64
    let size: Int
    let seconds: Int
    let nanoseconds: Int
  }

  private struct Entry {
    let file: MappedFile?
    var lastUse: UInt64
  }

  // LIMIT: files that are kept open.
  static let countMax = 64
  private var entries: [Key: Entry] = [:]
  private var uses: UInt64 = 0

  /// - Parameters:
  ///   - descriptor: Handed over.
  ///   - make: Makes the file of the descriptor, which it closes. A file whose debug information could not be looked
  ///     for is not kept: the next process that has it can be asked again.
  func file(
    _ descriptor: Int32, device: DeviceNumber, inode: UInt64, make: (Int32) -> MappedFile?
  ) -> MappedFile? {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else {
      close(descriptor)
      return nil
    }
    let key = Key(
      device: device, inode: inode, size: Int(status.st_size), seconds: status.st_mtim.tv_sec,
      nanoseconds: status.st_mtim.tv_nsec)
    uses += 1
    if let known = entries[key] {
      entries[key]?.lastUse = uses
      close(descriptor)
      return known.file
    }
    let file = make(descriptor)
    if file?.isDebugUnknown == true { return file }
    if entries.count >= Self.countMax, let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse }) {
      entries[oldest.key] = nil
    }
    entries[key] = Entry(file: file, lastUse: uses)
    return file
  }
}
