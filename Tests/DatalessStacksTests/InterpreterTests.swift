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

  /// Code that has taken the place of the interpreter's in the middle of a loop has left-over return addresses in its
  /// frame; the callers are behind them.
  @Test(.enabled(if: BlockedProgram.isInstalled("node"))) func callersOfAFunctionThatWasOptimizedWhileItRan() throws {
    let program = try BlockedProgram(
      node: """
        const fs = require("fs");
        const zero = fs.openSync("/dev/zero");
        const buffer = Buffer.alloc(1);
        function load(fd) { return fs.readSync(fd, buffer); }
        function deep(n) { return n > 0 ? deep(n - 1) + 1 : 1; }
        function many(a, b, c, d, e, f, g, h, i, j, k, l) {
          try { return a + b + c + d + e + f + g + h + i + j + k + l; } catch { return 0; }
        }
        function hot(n) {
          let sum = 0;
          for (let i = 0; i < n; i++) {
            sum = (sum * 31 + i) | 0;
            if (i % 100 === 0) sum += load(zero * Math.max(0, Math.min(1, 300000 - i)));
            if (i % 1000 === 50) sum += deep(20);
            if (i % 300000 === 70) {
              let a = deep(1), b = deep(2), c = deep(3), d = deep(4), e = deep(5), f = deep(6);
              let g = deep(7), h = deep(8), k = deep(9), l = deep(10), p = deep(11), q = deep(12);
              sum += many(a, b, c, d, e, f, g, h, k, l, p, q) + many(b, a, c, d, e, f, g, h, k, l, p, q)
                + many(c, b, a, d, e, f, g, h, k, l, p, q);
            }
          }
          return sum;
        }
        function caller(n) { return hot(n) + 1; }
        caller(6000000);
        """)
    let stack = try #require(try Self.interpreted(program))
    guard stack.isReadable else { return #expect(stack.frames.isEmpty) }
    let own = stack.frames.map(Self.text).filter { $0.contains("fm.js") }
    #expect(own.suffix(3) == ["hot fm.js:9", "caller fm.js:24", "(anonymous) fm.js:1"], "\(own)")
  }

  /// V8 makes frames of what was inlined when it gives optimized code up: to those nothing has called, nor do they
  /// return to behind a call.
  @Test(.enabled(if: BlockedProgram.isInstalled("node")), arguments: 1...5)
  func callersOfAFunctionWhoseOptimizedCodeWasGivenUp(round: Int) throws {
    let program = try BlockedProgram(
      node: """
        const fs = require("fs");
        const zero = fs.openSync("/dev/zero");
        const buffer = Buffer.alloc(10);
        let round = 0;
        function load() { fs.readSync(++round === \(round) ? 0 : zero, buffer); }
        class Item {
          constructor(n) { this.s = 0; for (let i = 0; i < n; i++) { this.s += i & 3; if (i === n - 1) load(); } }
        }
        function list(n) {
          let s = 0;
          const view = { get first() {
            let z = 0;
            for (let i = 0; i < n; i++) { z += i; if (i === n - 1) z += new Item(n).s; }
            return z;
          } };
          for (let i = 0; i < n; i++) { s += i; if (i === n - 1) s += view.first; }
          return s;
        }
        for (const n of [10, 1000, 30000, 200000, 2000000]) list(n);
        """)
    let stack = try #require(try Self.interpreted(program))
    guard stack.isReadable else { return #expect(stack.frames.isEmpty) }
    let own = stack.frames.map(Self.text).filter { $0.contains("fm.js") }
    let functions = own.map { String($0.prefix { $0 != " " }) }
    // What is inlined in code that was not given up has no frame.
    let all = ["load", "Item", "get", "list", "(anonymous)"]
    #expect(functions == all.filter { !["Item", "get"].contains($0) || functions.contains($0) }, "\(own)")
  }

  /// What is evaluated comes from no file, and is between its callers and what it calls all the same.
  @Test(.enabled(if: BlockedProgram.isInstalled("node"))) func evaluatedCodeHasItsPlace() throws {
    let program = try BlockedProgram(
      node: """
        function load() { require("fs").readSync(0, Buffer.alloc(1)); }
        function caller() { eval("load()"); }
        caller();
        """)
    let stack = try #require(try Self.interpreted(program))
    guard stack.isReadable else { return #expect(stack.frames.isEmpty) }
    let own = stack.frames.map(Self.text).filter { !$0.contains("node:") && !$0.contains("loader:") }
    #expect(own.contains("(anonymous) :-"), "\(own)")
    let load = try #require(own.firstIndex(of: "load fm.js:1"), "\(own)")
    #expect(own[load...].prefix(3) == ["load fm.js:1", "(anonymous) :-", "caller fm.js:2"], "\(own)")
  }

  /// As a program that is bundled into one file: what it costs to find lines has an end, and no function pays for it.
  @Test(.enabled(if: BlockedProgram.isInstalled("node"))) func functionsAtTheEndOfALargeScript() throws {
    let comments = String(repeating: "/* \(String(repeating: "y", count: 90)) */\r\n", count: 9500)
    let functions = (0..<24).map { number in
      let call = number == 0 ? "require('fs').readSync(0, Buffer.alloc(1))" : "f\(number - 1)()"
      return "function f\(number)() { \(call); }\n"
    }
    let program = try BlockedProgram(node: comments + functions.joined() + "f23();\n")
    let stack = try #require(try Self.interpreted(program))
    guard stack.isReadable else { return #expect(stack.frames.isEmpty) }
    let own = stack.frames.map(Self.text).filter { $0.contains("fm.js") }
    #expect(own == (0..<24).map { "f\($0) fm.js:\(9501 + $0)" } + ["(anonymous) fm.js:1"])
  }

  @Test func aFunctionThatIsNotKnownKeepsItsPlaceAndAGuessHasNone() {
    let known = InterpretedFunction(function: Array("load".utf8), file: Array("fm.js".utf8), line: 1)
    func frame(_ symbol: String, _ framePointer: UInt64, _ certainty: FrameCertainty, module: String = "") -> NamedFrame
    {
      var frame = NamedFrame(
        module: Array(module.utf8), offset: 1, symbol: Array(symbol.utf8), certainty: certainty)
      frame.framePointer = framePointer
      return frame
    }
    let trampoline = "Builtins_InterpreterEntryTrampoline"
    let native = NamedStack(
      frames: [
        frame("uv_fs_read", 8, .tables, module: "/node"), frame("", 16, .framePointerFound),
        frame("Builtins_ArrayMap", 24, .framePointerFound, module: "/node"),
        frame(trampoline, 32, .framePointerFound, module: "/node"),
        frame(trampoline, 40, .framePointerFound, module: "/node"), frame("", 48, .framePointerFound),
        frame(trampoline, 56, .guessed, module: "/node"),
      ], end: .noTables)
    let stack = NodeStack.stack([8: known, 16: known, 40: known, 56: known], native)
    #expect(stack?.frames.map(Self.text) == ["load fm.js:1", "(not readable) :-", "load fm.js:1", "(not readable) :-"])
  }

  /// Only what is on a page of the heap of a function that was found is V8's.
  @Test func codeOfV8IsOnAPageOfTheHeapOfItsFunctions() throws {
    let layout = try #require(NodeLayout(NodeMemory.values))
    let mappings = try #require(
      MappingTable(
        Array(
          """
          7fff00000000-7fff00040000 rw-p 00000000 00:00 0
          7fff00040000-7fff00080000 r-xp 00000000 00:00 0

          """.utf8), volumes: []))
    func code(_ memory: NodeMemory) -> [Range<UInt64>] {
      let copy = StackCopy(start: NodeMemory.base + 0x400, bytes: Array(memory.content[0x400..<0x480]))
      var walk = NodeWalk(memory: memory, layout: layout)
      let functions = walk.functions(in: copy, mappings: mappings)
      #expect(functions.mapValues(Self.text) == [NodeMemory.base + 0x420: "f f.js:-"])
      return walk.code(in: copy, mappings: mappings)
    }
    let memory = NodeMemory.withFunctionOnStack
    #expect(code(memory) == [NodeMemory.base + 0x4_0100..<NodeMemory.base + 0x4_1000])
    // Of another heap; an end before the address; a beginning before its page.
    for (offset, word) in [(0x4_0010, 0x78), (0x4_0020, NodeMemory.base + 0x4_0800), (0x4_0018, 1)] as [(Int, UInt64)] {
      var other = memory
      other.set(offset, word)
      #expect(code(other).isEmpty, "\(offset)")
    }
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
      let code = walk.code(in: copy, mappings: NodeMemory.mappings)
      #expect(zip(code, code.dropFirst()).allSatisfy { $0.upperBound <= $1.lowerBound })
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

  /// A frame of JavaScript at 0x420, and its function on a page of a heap that has code on another page.
  static var withFunctionOnStack: NodeMemory {
    var memory = NodeMemory(count: 0x4_1000)
    func object(_ offset: Int) -> UInt64 { base + UInt64(offset) + 1 }
    for page in [0, 0x4_0000] {
      memory.set(page + 0x10, 0x77)
      memory.set(page + 0x18, base + UInt64(page) + 0x100)
      memory.set(page + 0x20, base + UInt64(page) + 0x1000)
    }
    // Maps: of a SharedFunctionInfo, a Script, a text.
    for (map, type) in [(0x100, 262), (0x120, 167), (0x140, 8)] { memory.set(map + 8, UInt64(type) << 32) }
    memory.set(0x200 + 24, object(0x240))
    for (offset, value) in [(0, 0x100), (16, 0x2c0), (32, 0x280)] { memory.set(0x240 + offset, object(value)) }
    for (offset, value) in [(0, 0x120), (16, 0x300)] { memory.set(0x280 + offset, object(value)) }
    for (place, text) in [(0x2c0, "f"), (0x300, "f.js")] {
      memory.set(place, object(0x140))
      memory.set(place + 8, UInt64(text.utf8.count) << 32)
      memory.content.replaceSubrange(place + 16..<place + 16 + text.utf8.count, with: text.utf8)
    }
    memory.set(0x410, object(0x200))
    memory.set(0x418, object(0x240))
    memory.set(0x420, base + 0x460)
    memory.set(0x428, base + 0x4_0800)
    return memory
  }

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
