internal import Glibc

/// Which files are CPython, as the symbol process has said.
struct PythonImages {
  /// A file and its content.
  struct Key: Hashable {
    let device: DeviceNumber
    let inode: UInt64
    let size: Int
    let seconds: Int
    let nanoseconds: Int
  }

  // LIMIT: files that are remembered.
  static let countMax = 256
  private var known: [Key: PythonImage?] = [:]

  mutating func remember(_ key: Key, _ image: PythonImage?) {
    if known.count >= Self.countMax { known.removeAll() }
    known[key] = .some(image)
  }

  /// A file that is called as an interpreter and has not been looked at; nil when there is none.
  ///
  /// - Returns: Its descriptor, which is the caller's to close.
  func firstUnknown(in order: CaptureOrder) -> (key: Key, descriptor: Int32)? {
    guard let text = ProcessFile.bytes("\(order.processID)/maps", limit: MappingTable.bytesMax),
      let mappings = MappingTable(text, volumes: Set(order.volumes))
    else { return nil }
    for mapping in mappings.mappings where mapping.fileOffset == 0 && PythonProgram.isCandidate(mapping) {
      guard let (key, descriptor) = Self.open(mapping, order.processID) else { continue }
      if known[key] == nil { return (key, descriptor) }
      close(descriptor)
    }
    return nil
  }

  /// The functions of an interpreted program; nil for one that is none. To be called while the thread waits.
  func stack(of order: CaptureOrder, _ mappings: MappingTable, _ memory: ProcessMemory) -> InterpretedStack? {
    let search = PythonProgram.find(in: mappings, memory: memory) { mapping in
      guard let (key, descriptor) = Self.open(mapping, order.processID) else { return nil }
      close(descriptor)
      return known[key] ?? nil
    }
    let python = Array("python".utf8)
    switch search {
    case .notPython: return nil
    case .unknownVersion:
      return InterpretedStack(language: python, isReadable: false, isComplete: false, frames: [])
    case .found(let program):
      let walk = PythonWalk(memory: memory, layout: program.layout, runtime: program.runtime)
      switch walk.stack(of: order.threadID) {
      case .notReadable:
        return InterpretedStack(language: python, isReadable: false, isComplete: false, frames: [])
      case .frames(let frames, let isComplete):
        return InterpretedStack(language: python, isReadable: true, isComplete: isComplete, frames: frames)
      }
    }
  }

  private static func open(_ mapping: Mapping, _ processID: Int32) -> (key: Key, descriptor: Int32)? {
    guard let descriptor = CallerFile.open(mapping, of: processID) else { return nil }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else {
      close(descriptor)
      return nil
    }
    let key = Key(
      device: mapping.device, inode: mapping.inode, size: Int(status.st_size), seconds: status.st_mtim.tv_sec,
      nanoseconds: status.st_mtim.tv_nsec)
    return (key, descriptor)
  }
}
