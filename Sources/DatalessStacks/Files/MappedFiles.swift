/// The files that a process has mapped, as far as its stacks need them. For one thread.
public final class MappedFiles: UnwindSource {
  /// One file, whatever it is called.
  struct Identity: Hashable {
    let device: DeviceNumber
    let inode: UInt64
  }

  private let mappings: MappingTable
  private let library: DwarfLibrary?
  private let cache: FileCache
  private let open: (Mapping) -> Int32?
  private let findDebug: (Mapping, BuildID?, DebugLink?) -> DebugFileSearch
  private var files: [Identity: MappedFile?] = [:]

  /// - Parameter open: A descriptor of a mapped file, which is closed here; nil when it may not be had.
  public convenience init(_ mappings: MappingTable, library: DwarfLibrary, open: @escaping (Mapping) -> Int32?) {
    self.init(mappings, library: library, cache: FileCache(), open: open) { _, _, _ in .missing }
  }

  /// - Parameters:
  ///   - library: nil: no tables and no lines.
  ///   - open: A descriptor of a mapped file, which is closed here; nil when it may not be had.
  ///   - findDebug: Looks for a file of debug information.
  init(
    _ mappings: MappingTable, library: DwarfLibrary?, cache: FileCache, open: @escaping (Mapping) -> Int32?,
    findDebug: @escaping (Mapping, BuildID?, DebugLink?) -> DebugFileSearch
  ) {
    self.mappings = mappings
    self.library = library
    self.cache = cache
    self.open = open
    self.findDebug = findDebug
  }

  /// Where an address of the process is in its file.
  public struct Place {
    let file: MappedFile
    /// As the file has it, and what is added to such an address in the process.
    public let address: UInt64
    public let bias: UInt64
    public let mapping: Mapping

    public var buildID: BuildID? { file.buildID }
    /// nil without debug information.
    public var line: (file: [UInt8], line: Int)? { file.tables?.line(at: address) }
  }

  /// nil for memory without a file, and for a file that may not be had or is no ELF file.
  public func place(of address: UInt64) -> Place? {
    guard let mapping = mappings.mapping(at: address), let offset = mapping.fileOffset(of: address),
      let file = file(of: mapping), let inFile = file.elf.address(ofFileOffset: offset)
    else { return nil }
    return Place(file: file, address: inFile, bias: address &- inFile, mapping: mapping)
  }

  /// Whether debug information of one of the files that were needed so far could not be looked for.
  var isDebugUnknown: Bool { files.values.contains { $0?.isDebugUnknown == true } }

  private func file(of mapping: Mapping) -> MappedFile? {
    let identity = Identity(device: mapping.device, inode: mapping.inode)
    if let known = files[identity] { return known }
    let file = open(mapping).flatMap { descriptor in
      cache.file(descriptor, device: mapping.device, inode: mapping.inode) { [library, findDebug] in
        MappedFile(descriptor: $0, library: library) { findDebug(mapping, $0, $1) }
      }
    }
    files[identity] = .some(file)
    return file
  }

  public func row(at address: UInt64) -> UnwindRow? {
    place(of: address).flatMap { $0.file.tables?.row(at: $0.address) }
  }

  public func function(at address: UInt64) -> FunctionSymbol? {
    guard let place = place(of: address), let function = place.file.function(at: place.address) else { return nil }
    return FunctionSymbol(start: function.start &+ place.bias, name: function.name)
  }

  public func code(at address: UInt64, count: Int) -> [UInt8]? {
    guard let mapping = mappings.mapping(at: address), mapping.isExecutable, let length = UInt64(exactly: count),
      length <= mapping.end - address, let offset = mapping.fileOffset(of: address)
    else { return nil }
    return file(of: mapping)?.elf.source.bytes(at: offset, count: length)
  }

  /// Go's function table of the file in which an address lies; nil for all that is not Go.
  public func goFunctions(at address: UInt64) -> GoFunctionTable? {
    place(of: address).flatMap { $0.file.goFunctions(bias: $0.bias) }
  }
}
