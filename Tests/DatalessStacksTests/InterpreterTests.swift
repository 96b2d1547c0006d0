import Glibc
import TestSupport
import Testing

@testable import DatalessStacks

/// Node: a real one that waits, and memory that is made up, for bash too.
@Suite struct InterpreterTests {
  private static func interpreted(_ program: BlockedProgram) throws -> InterpretedStack? {
    guard case .stack(let stack) = try ServedStacks().stack(of: program) else {
      throw BlockedProgram.Failure(what: "no stack")
    }
    return stack.interpreted
  }

  private static func text(_ frame: InterpretedFunction) -> String {
    let file = String(decoding: frame.file, as: UTF8.self).split(separator: "/").last ?? ""
    return "\(String(decoding: frame.function, as: UTF8.self)) \(file):\(frame.line.map(String.init) ?? "-")"
  }

  /// Where nobody could say what a file is, somebody is asked again, three times.
  @Test func aFileThatNobodyCouldNameIsAskedForAgain() throws {
    var images = InterpreterImages()
    let key = InterpreterImages.Key(
      device: DeviceNumber(major: 8, minor: 1), inode: 5, size: 10, seconds: 1, nanoseconds: 0)
    for _ in 1..<InterpreterImages.failuresMax {
      images.noteFailure(key)
      #expect(!images.knows(key))
    }
    images.noteFailure(key)
    #expect(images.knows(key))
  }

  @Test(.enabled(if: BlockedProgram.isInstalled("node"))) func functionsOfNodeAndWhereTheyBegin() throws {
    let program = try BlockedProgram(
      node: """
        // Gr\u{fc}\u{df}e, \u{4e2d}
        const fs = require("fs");
        function loadThumbnail(file) {

          return fs.readSync(file, Buffer.alloc(1));
        }
        class Window {
          draw() { return [1].map(() => loadThumbnail(0)); }
        }
        new Window().draw();
        """)
    let stack = try #require(try Self.interpreted(program))
    #expect(String(decoding: stack.language, as: UTF8.self) == "node")
    // Another version says so, and nothing more.
    guard stack.isReadable else { return #expect(stack.frames.isEmpty) }
    #expect(stack.hasFunctionLines && !stack.isComplete)
    let own = stack.frames.map(Self.text).filter { $0.contains("fm.js") }
    #expect(own == ["loadThumbnail fm.js:3", "(anonymous) fm.js:8", "draw fm.js:8", "(anonymous) fm.js:1"])
  }

  @Test func anotherVersionIsNotRead() {
    #expect(NodeLayout(NodeMemory.values) != nil)
    for field in [NodeLayout.Field.major, .minor, .smiShift, .taggedSize, .functionPlace, .script] {
      var values = NodeMemory.values
      values[NodeLayout.Field.allCases.firstIndex(of: field)!] = field == .script ? -1 : 99
      #expect(NodeLayout(values) == nil, "\(field)")
    }
    var memory = NodeMemory(count: 4096)
    memory.set(0x100, NodeMemory.base + 0x200)
    memory.set(0x200, UInt64(UInt8(ascii: "6")))
    let image = BashImage(words: [0, 0, 0x100] + Array(repeating: 0, count: BashImage.wordCount - 3))!
    let walk = BashShell.walk(image, start: NodeMemory.base, memory: memory)
    #expect(walk == .unknown(language: "bash"))
  }

  @Test(arguments: TestSeed.seeds) func anyHeapIsWalkedWithinBounds(seed: UInt64) throws {
    let layout = try #require(NodeLayout(NodeMemory.values))
    try Fuzz.run("stacks: heap of V8", seed: seed, cases: 300) { random, _ in
      let memory = NodeMemory.made(&random)
      let copy = StackCopy(start: NodeMemory.base + UInt64(random.below(9)), bytes: Array(memory.content.prefix(2048)))
      var walk = NodeWalk(memory: memory, layout: layout)
      for (slot, function) in walk.functions(in: copy, mappings: NodeMemory.mappings) {
        #expect(slot >= copy.start && function.function.count <= 2000)
      }
      let words = (0..<BashImage.wordCount).map { _ in
        random.oneIn(5) ? random.next() : UInt64(random.below(9000))
      }
      let image = BashImage(words: words)!
      if case .bash(let command) = BashShell.walk(image, start: NodeMemory.base, memory: memory) {
        #expect(command.text.count <= BashShell.textMax)
      }
    }
  }
}

/// Memory of a program that exists in a test alone.
struct NodeMemory: CallerMemory {
  static let base: UInt64 = 0x7fff_0000_0000
  var content: [UInt8]

  init(count: Int) { content = Array(repeating: 0, count: count) }

  func bytes(at address: UInt64, count: Int) -> [UInt8]? {
    guard address >= Self.base, count > 0, address - Self.base <= UInt64(content.count),
      UInt64(count) <= UInt64(content.count) - (address - Self.base)
    else { return nil }
    return Array(content[Int(address - Self.base)..<Int(address - Self.base) + count])
  }

  mutating func set(_ offset: Int, _ word: UInt64) {
    withUnsafeBytes(of: word.littleEndian) { content.replaceSubrange(offset..<offset + 8, with: $0) }
  }

  static let mappings = MappingTable(
    Array("7fff00000000-7fff00100000 rwxp 00000000 00:00 0 [stack]\n".utf8), volumes: [])!

  /// As node 20 exports them.
  static let values: [Int32] = [
    24, 16, 32, 16, 8, 12, 12, 16, 16, 16, 24, 16, 24, 16, 16, 262, 167, 261, 128, 7, 8, 1, 2, 3, 5, 31, 8, -16, -8, 11,
    3,
  ]

  /// Words that lead to each other as those of a heap do, types that are wanted, and noise.
  static func made(_ random: inout TestRandom) -> NodeMemory {
    var memory = NodeMemory(count: 8192)
    for offset in stride(from: 0, to: memory.content.count, by: 8) {
      let pointer = base + UInt64(random.below(1024)) * 8
      let words: [UInt64] = [
        pointer | 1, pointer, UInt64(random.below(4000)) << 32, 0, random.next(),
        // A map: its type is at 12.
        UInt64(random.element(of: [262, 167, 261, 0, 1, 2, 3, 5, 8, 9, 10, 11, 13])) << 32,
      ]
      memory.set(offset, random.element(of: words))
    }
    return memory
  }
}
