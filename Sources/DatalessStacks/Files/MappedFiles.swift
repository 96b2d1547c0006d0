internal import Glibc

/// The files that a process has mapped, as far as its stacks need them. For one thread.
public final class MappedFiles: UnwindSource {
  /// One file, whatever it is called.
  struct Identity: Hashable {
    let device: DeviceNumber
    let inode: UInt64
  }

  final class File {
    let descriptor: Int32
    let elf: ElfFile<FileBytes>
    let tables: DwarfFile?
    // Made when first asked for.
    lazy var functions = elf.functions
    lazy var buildID = elf.buildID

    init(descriptor: Int32, elf: ElfFile<FileBytes>, library: DwarfLibrary) {
      self.descriptor = descriptor
      self.elf = elf
      tables = DwarfFile(descriptor, library: library)
    }

    deinit { close(descriptor) }
  }

  private let mappings: MappingTable
  private let library: DwarfLibrary
  private let open: (Mapping) -> Int32?
  private var files: [Identity: File?] = [:]

  /// - Parameter open: A descriptor of a mapped file, which is closed here; nil when it may not be had.
  public init(_ mappings: MappingTable, library: DwarfLibrary, open: @escaping (Mapping) -> Int32?) {
    self.mappings = mappings
    self.library = library
    self.open = open
  }

  /// Where an address of the process is in its file.
  public struct Place {
    let file: File
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

  private func file(of mapping: Mapping) -> File? {
    let identity = Identity(device: mapping.device, inode: mapping.inode)
    if let known = files[identity] { return known }
    var file: File?
    if let descriptor = open(mapping) {
      if let elf = ElfFile(FileBytes(descriptor: descriptor)) {
        file = File(descriptor: descriptor, elf: elf, library: library)
      } else {
        close(descriptor)
      }
    }
    files[identity] = .some(file)
    return file
  }

  public func row(at address: UInt64) -> UnwindRow? {
    place(of: address).flatMap { $0.file.tables?.row(at: $0.address) }
  }

  public func function(at address: UInt64) -> FunctionSymbol? {
    guard let place = place(of: address), let symbol = place.file.functions?.function(at: place.address) else {
      return nil
    }
    return FunctionSymbol(start: symbol.address &+ place.bias, name: symbol.name)
  }

  public func code(at address: UInt64, count: Int) -> [UInt8]? {
    guard let mapping = mappings.mapping(at: address), mapping.isExecutable, let length = UInt64(exactly: count),
      length <= mapping.end - address, let offset = mapping.fileOffset(of: address)
    else { return nil }
    return file(of: mapping)?.elf.source.bytes(at: offset, count: length)
  }

  /// Go's function table of the file in which an address lies; nil for all that is not Go.
  public func goFunctions(at address: UInt64) -> GoFunctionTable? {
    guard let place = place(of: address) else { return nil }
    let bytes = [".gopclntab", ".data.rel.ro.gopclntab"].lazy.compactMap { place.file.elf.section(named: $0) }.first
    return bytes.flatMap { GoFunctionTable($0, bias: place.bias) }
  }
}
