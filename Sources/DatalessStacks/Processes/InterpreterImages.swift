internal import Glibc

/// Which files are interpreters, as the symbol process has said.
struct InterpreterImages {
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
  // LIMIT: how often it is asked what a file is, if there is no answer. Then it counts as no interpreter.
  static let failuresMax = 3
  private var known: [Key: InterpreterImage?] = [:]
  private var failures: [Key: Int] = [:]

  mutating func remember(_ key: Key, _ image: InterpreterImage?) {
    if known.count >= Self.countMax { known.removeAll() }
    known[key] = .some(image)
    failures[key] = nil
  }

  /// Nobody could say what a file is: one that was cut off does not make a program one without an interpreter for good.
  mutating func noteFailure(_ key: Key) {
    if failures.count >= Self.countMax { failures.removeAll() }
    let count = failures[key, default: 0] + 1
    failures[key] = count
    if count >= Self.failuresMax { remember(key, nil) }
  }

  /// Whether it is known what a file is.
  func knows(_ key: Key) -> Bool { known[key] != nil }

  enum Walk {
    /// nil for a program that is no interpreter.
    case walked(InterpretedWalk?)
    /// A file is called as an interpreter and has not been looked at.
    case unknown(Key, OpenedFiles)
  }

  /// What is to be read of an interpreter. To be called while the thread waits.
  ///
  /// - Parameters:
  ///   - identity: Of the process, asked for only if it may have an interpreter; nil when it has gone.
  ///   - copy: Of the thread's stack, if it could be read.
  func walk(
    of order: CaptureOrder, _ mappings: MappingTable, memory: ProcessMemory, copy: StackCopy?,
    as identity: () -> CallerIdentity?
  ) -> Walk {
    let candidates = mappings.mappings.filter { InterpreterImage.isCandidate($0) }
    guard !candidates.isEmpty, let identity = identity() else { return .walked(nil) }
    return identity.reading(otherwise: .walked(nil)) {
      if let (key, file) = firstUnknown(of: candidates, order.processID) { return .unknown(key, file) }
      return .walked(walk(of: order, mappings, candidates: candidates, memory: memory, copy: copy))
    }
  }

  private func firstUnknown(of candidates: [Mapping], _ processID: Int32) -> (key: Key, file: OpenedFiles)? {
    for mapping in candidates {
      guard let (key, descriptor) = Self.open(mapping, processID) else { continue }
      let file = SymbolOrder.File(device: mapping.device, inode: mapping.inode)
      let opened = OpenedFiles(files: [file], descriptors: [descriptor])
      if !knows(key) { return (key, opened) }
    }
    return nil
  }

  private func walk(
    of order: CaptureOrder, _ mappings: MappingTable, candidates: [Mapping], memory: ProcessMemory, copy: StackCopy?
  ) -> InterpretedWalk? {
    for mapping in candidates {
      guard let (key, descriptor) = Self.open(mapping, order.processID) else { continue }
      close(descriptor)
      switch known[key] ?? nil {
      case nil: continue
      case .python: return pythonWalk(of: order, mappings, memory: memory)
      case .bash(let image):
        return BashShell.walk(image, start: mapping.start, memory: memory) {
          BashScript.resolved($0, of: order.processID)
        }
      case .node(let layout):
        guard let copy else { return nil }
        var walk = NodeWalk(memory: memory, layout: layout)
        let functions = walk.functions(in: copy, mappings: mappings)
        return .node(functions, code: walk.code(in: copy, mappings: mappings))
      case .unknownNode: return .unknown(language: "node")
      case .unknownPython: return .unknown(language: "python")
      }
    }
    return nil
  }

  private func pythonWalk(
    of order: CaptureOrder, _ mappings: MappingTable, memory: ProcessMemory
  ) -> InterpretedWalk? {
    let search = PythonProgram.find(in: mappings, memory: memory) { mapping in
      guard let (key, descriptor) = Self.open(mapping, order.processID) else { return nil }
      close(descriptor)
      guard case .python(let image) = known[key] ?? nil else { return nil }
      return image
    }
    switch search {
    case .notPython: return nil
    case .unknownVersion: return .unknown(language: "python")
    case .found(let program):
      let walk = PythonWalk(memory: memory, layout: program.layout, runtime: program.runtime)
      switch walk.stack(of: order.threadID) {
      case .notReadable: return .unknown(language: "python")
      case .frames(let frames, let isComplete):
        return .python(
          InterpretedStack(
            language: Array("python".utf8), isReadable: true, isComplete: isComplete, frames: frames))
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
