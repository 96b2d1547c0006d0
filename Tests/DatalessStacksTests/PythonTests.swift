import TestSupport
import Testing

@testable import DatalessStacks

/// Memory of a test: what was put there, and nothing else.
struct ScriptedMemory: CallerMemory {
  var bytes: [UInt64: UInt8] = [:]

  func bytes(at address: UInt64, count: Int) -> [UInt8]? {
    guard count >= 0, count <= 1 << 20 else { return nil }
    var result: [UInt8] = []
    for offset in 0..<UInt64(count) {
      guard let byte = bytes[address &+ offset] else { return nil }
      result.append(byte)
    }
    return result
  }

  mutating func put(_ content: some Sequence<UInt8>, at address: UInt64) {
    for (offset, byte) in content.enumerated() { bytes[address &+ UInt64(offset)] = byte }
  }

  mutating func put<Word: FixedWidthInteger>(_ word: Word, at address: UInt64, _ offset: Int = 0) {
    withUnsafeBytes(of: word.littleEndian) { put(Array($0), at: address &+ UInt64(offset)) }
  }
}

/// Frames of CPython, in memory laid out as each version has it.
@Suite struct PythonTests {
  private static let threadID: Int32 = 4711

  /// `load` of fm.py, called by `<module>`, at instruction 6 of each.
  private static func memory(_ layout: PythonLayout) -> ScriptedMemory {
    var memory = ScriptedMemory()
    let (interpreter, other, thread): (UInt64, UInt64, UInt64) = (0x2000, 0x3000, 0x4000)
    memory.put(interpreter, at: 0x1000, layout.interpreters)
    memory.put(0 as UInt64, at: interpreter, layout.nextInterpreter)
    memory.put(other, at: interpreter, layout.firstThread)
    memory.put(thread, at: other, layout.nextThread)
    memory.put(0 as UInt64, at: thread, layout.nextThread)
    for (state, number) in [(other, threadID - 1), (thread, threadID)] {
      switch layout.thread {
      case .native(let offset): memory.put(UInt64(number), at: state, offset)
      case .posix(let offset):
        memory.put(state + 0x40_0000, at: state, offset)
        memory.put(number, at: state + 0x40_0000, PythonLayout.glibcThreadNumber)
      }
    }
    let (load, module, shim): (UInt64, UInt64, UInt64) = (0x10_000, 0x11_000, 0x12_000)
    switch layout.frame {
    case .direct(let offset): memory.put(load, at: thread, offset)
    case .through(let first, let second):
      memory.put(0x5000 as UInt64, at: thread, first)
      memory.put(load, at: 0x5000, second)
    }
    put(
      frame: load, code: 0x20_000, name: "load", firstLine: 40, previous: layout.owner == nil ? module : shim, layout,
      &memory)
    put(frame: module, code: 0x30_000, name: "<m\u{f6}dule>", firstLine: 1, previous: 0, layout, &memory)
    if let owner = layout.owner {
      memory.put(module, at: shim, layout.previousFrame)
      memory.put(owner.firstShim, at: shim, owner.offset)
    }
    return memory
  }

  private static func put(
    frame: UInt64, code: UInt64, name: String, firstLine: Int32, previous: UInt64, _ layout: PythonLayout,
    _ memory: inout ScriptedMemory
  ) {
    if let owner = layout.owner { memory.put(0 as UInt8, at: frame, owner.offset) }
    memory.put(previous, at: frame, layout.previousFrame)
    memory.put(code, at: frame, layout.code)
    memory.put(firstLine, at: code, layout.firstLine)
    for (field, place) in [
      (layout.name, code + 0x1000), (layout.file, code + 0x2000), (layout.lineTable, code + 0x3000),
    ] {
      memory.put(place, at: code, field)
    }
    put(text: name, at: code + 0x1000, layout, &memory)
    put(text: "fm.py", at: code + 0x2000, layout, &memory)
    let table: [UInt8]
    switch layout.instruction {
    case .index(let offset):
      memory.put(3 as Int32, at: frame, offset)
      table = [4, 0, 6, 2]
    case .pointer(let offset, let bytes):
      memory.put(code + UInt64(bytes) + 6, at: frame, offset)
      // Two instructions on the first line, then three two lines further.
      table = [0x80 | 10 << 3 | 1, 0, 0, 0x80 | 12 << 3 | 2, 0, 0]
    }
    memory.put(UInt64(table.count), at: code + 0x3000, layout.text.byteCount)
    memory.put(table, at: code + 0x3000 + UInt64(layout.text.byteData))
  }

  private static func put(text: String, at address: UInt64, _ layout: PythonLayout, _ memory: inout ScriptedMemory) {
    let isASCII = text.utf8.allSatisfy { $0 < 128 }
    memory.put(UInt64(text.unicodeScalars.count), at: address, layout.text.length)
    memory.put(1 << 2 | 1 << 5 | (isASCII ? 1 << 6 : 0) as UInt32, at: address, layout.text.state)
    let data = isASCII ? layout.text.asciiData : layout.text.compactData
    memory.put(text.unicodeScalars.map { UInt8($0.value) }, at: address + UInt64(data))
  }

  @Test(arguments: [10, 11, 12]) func functionsFilesAndLines(minor: Int) throws {
    let layout = try #require(PythonLayout(minor: minor))
    let walk = PythonWalk(memory: Self.memory(layout), layout: layout, runtime: 0x1000)
    let file = Array("fm.py".utf8)
    #expect(
      walk.stack(of: Self.threadID)
        == .frames(
          [
            InterpretedFunction(function: Array("load".utf8), file: file, line: 42),
            InterpretedFunction(function: Array("<m\u{f6}dule>".utf8), file: file, line: 3),
          ], isComplete: true))
    #expect(walk.stack(of: 1) == .notReadable)
  }

  @Test func thirteenDescribesItself() throws {
    var words = [UInt64](repeating: 8, count: 128)
    for (index, value) in [(25, 152), (33, 70), (70, 40), (66, 32)] { words[index] = UInt64(value) }
    var bytes = words.flatMap { word in withUnsafeBytes(of: word.littleEndian) { Array($0) } }
    bytes.replaceSubrange(0..<8, with: "xdebugpy".utf8)
    let layout = try #require(PythonLayout(described: bytes, minor: 13))
    #expect(layout.thread == .native(152))
    #expect(layout.owner == PythonLayout.Owner(offset: 70, firstShim: 3))
    #expect(layout.text.compactData == 56)
    // 3.14 has other fields at these places.
    #expect(PythonLayout(described: bytes, minor: 14) == nil)
    #expect(PythonLayout(described: Array(bytes.prefix(500)), minor: 13) == nil)
    bytes.replaceSubrange(25 * 8..<26 * 8, with: [255, 255, 255, 255, 255, 255, 255, 255])
    #expect(PythonLayout(described: bytes, minor: 13) == nil)
  }

  @Test(arguments: [9, 14, 15]) func anUnknownVersionIsNotRead(minor: Int) {
    #expect(PythonLayout(minor: minor) == nil)
  }

  @Test func linesOfTables() {
    // 3.10: the second entry has no line.
    let old: [UInt8] = [4, 1, 4, 0x80, 4, 0xff]
    let lines = [0, 4, 8, 12].map { PythonLineTable.line(old, instruction: $0, firstLine: 10, minor: 10) }
    #expect(lines == [11, nil, 10, nil])
    // 3.11: a long step back, an entry without a line.
    let new: [UInt8] = [0x80 | 13 << 3, 0x40 | 0x09, 0x01, 0x80 | 15 << 3 | 1, 0x80 | 14 << 3, 4, 0, 0, 0]
    let newLines = [0, 2, 4, 6, 8].map { PythonLineTable.line(new, instruction: $0, firstLine: 100, minor: 11) }
    #expect(newLines == [64, nil, nil, 66, nil])
    #expect(PythonLineTable.line(new, instruction: -1, firstLine: 100, minor: 11) == nil)
  }

  @Test(arguments: TestSeed.seeds) func anyMemoryEnds(seed: UInt64) throws {
    try Fuzz.run("stacks: python", seed: seed, cases: 300) { random, note in
      let layout = try #require(PythonLayout(minor: 10 + random.below(3)))
      var memory = Self.memory(layout)
      let places = memory.bytes.keys.sorted()
      for _ in 0..<(1 + random.below(12)) {
        let place = random.element(of: places)
        switch random.below(3) {
        case 0: memory.bytes[place] = random.byte()
        case 1: memory.bytes[place] = nil
        // A pointer to something else that is there: chains with cycles.
        default: memory.put(random.element(of: places), at: place)
        }
      }
      let walk = PythonWalk(memory: memory, layout: layout, runtime: 0x1000)
      if case .frames(let frames, _) = walk.stack(of: Self.threadID) { #expect(frames.count <= 512, "\(note)") }
      var table = (0..<random.below(64)).map { _ in random.byte() }
      table = ByteMutation.mutated(table, &random)
      for minor in [10, 12] {
        _ = PythonLineTable.line(table, instruction: random.below(200), firstLine: 1 << 30, minor: minor)
      }
      _ = PythonText.utf8(table, bytesPerCharacter: [1, 2, 4][random.below(3)])
    }
  }
}

/// Which process is Python, of which version.
@Suite struct PythonProgramTests {
  private static func search(
    _ path: String, version: UInt64?, image: PythonImage? = PythonImage(runtime: 0x100, version: 0x80)
  ) throws -> PythonProgram.Search {
    let text = "400000-401000 r--p 00000000 08:01 7 \(path)\n"
    let mappings = try #require(MappingTable(Array(text.utf8), volumes: []))
    var memory = ScriptedMemory()
    if let version { memory.put(version, at: 0x40_0080) }
    return PythonProgram.find(in: mappings, memory: memory) { _ in image }
  }

  @Test func versions() throws {
    let found = PythonProgram(layout: try #require(PythonLayout(minor: 11)), runtime: 0x40_0100)
    #expect(try Self.search("/usr/bin/python3.11", version: 0x030b_02f0) == .found(found))
    // The version is what the program says, not what it is called.
    #expect(try Self.search("/opt/python3.12", version: 0x030b_02f0) == .found(found))
    #expect(try Self.search("/usr/bin/python3", version: 0x030e_00f0) == .unknownVersion)
    #expect(try Self.search("/usr/bin/python3", version: 0x020b_00f0) == .unknownVersion)
    #expect(try Self.search("/usr/bin/python3", version: nil) == .unknownVersion)
    #expect(try Self.search("/usr/bin/perl", version: 0x030b_02f0) == .notPython)
    #expect(try Self.search("/usr/bin/python3.11", version: nil, image: nil) == .notPython)
    let old = PythonImage(runtime: 0x100, version: nil)
    #expect(
      try Self.search("/usr/lib/libpython3.10.so.1.0", version: nil, image: old)
        == .found(PythonProgram(layout: try #require(PythonLayout(minor: 10)), runtime: 0x40_0100)))
    #expect(try Self.search("/usr/bin/python3", version: nil, image: old) == .unknownVersion)
  }
}
