/// What a file of an interpreter says about itself: where in a process its structures are.
///
/// Made in the symbol process, which parses callers' files, once for each build; the capture process is told.
public enum InterpreterImage: Sendable, Equatable {
  case python(PythonImage)
  case bash(BashImage)
  case node(NodeLayout)
  /// Node, or CPython, of a version whose structures are not known: "frames not readable".
  case unknownNode
  case unknownPython

  /// nil for a file that is none of them.
  public init?<Source: ByteSource>(_ elf: ElfFile<Source>) {
    if let python = PythonImage(elf) {
      self = .python(python)
    } else if let bash = BashImage(elf) {
      self = .bash(bash)
    } else if let values = NodeLayout.values(elf) {
      self = NodeLayout(values).map { .node($0) } ?? .unknownNode
    } else if PythonImage.isOfAnyVersion(elf) {
      self = .unknownPython
    } else {
      return nil
    }
  }

  /// By its name; embedded elsewhere an interpreter is not found.
  static func isCandidate(_ mapping: Mapping) -> Bool {
    guard mapping.isFile, mapping.fileOffset == 0 else { return false }
    let name = mapping.path.lastIndex(of: UInt8(ascii: "/")).map { mapping.path[($0 + 1)...] } ?? mapping.path[...]
    return name.elementsEqual("bash".utf8) || name.elementsEqual("node".utf8) || name.elementsEqual("nodejs".utf8)
      || PythonProgram.isCandidate(mapping)
  }
}

/// What a file turned out to be.
struct InterpreterIdentity: Equatable {
  /// nil for one that is no interpreter.
  let image: InterpreterImage?

  init(image: InterpreterImage?) { self.image = image }

  var bytes: [UInt8] {
    var writer = ByteWriter()
    switch image {
    case nil: writer.add(UInt8(0))
    case .python(let python):
      writer.add(UInt8(1))
      for word in [python.runtime, python.version ?? 0, python.version == nil ? 0 : 1] { writer.add(word) }
    case .bash(let bash):
      writer.add(UInt8(2))
      for word in bash.words { writer.add(word) }
    case .node(let layout):
      writer.add(UInt8(3))
      for value in layout.values { writer.add(value) }
    case .unknownNode: writer.add(UInt8(4))
    case .unknownPython: writer.add(UInt8(5))
    }
    return writer.bytes
  }

  /// nil for what is no identity.
  init?(_ bytes: [UInt8]) {
    var reader = ByteReader(bytes)
    do throws(ByteReader.Malformed) {
      switch try reader.word(UInt8.self) {
      case 0: image = nil
      case 1:
        let (runtime, version) = (try reader.word(UInt64.self), try reader.word(UInt64.self))
        let hasVersion = try reader.word(UInt64.self) == 1
        image = .python(PythonImage(runtime: runtime, version: hasVersion ? version : nil))
      case 2:
        var words: [UInt64] = []
        for _ in 0..<BashImage.wordCount { words.append(try reader.word(UInt64.self)) }
        guard let bash = BashImage(words: words) else { return nil }
        image = .bash(bash)
      case 3:
        var values: [Int32] = []
        for _ in NodeLayout.Field.allCases { values.append(try reader.word(Int32.self)) }
        guard let layout = NodeLayout(values) else { return nil }
        image = .node(layout)
      case 4: image = .unknownNode
      case 5: image = .unknownPython
      default: return nil
      }
      try reader.end()
    } catch { return nil }
  }
}
