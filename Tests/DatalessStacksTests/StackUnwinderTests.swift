import TestSupport
import Testing

@testable import DatalessStacks

/// Which chains are found, how each frame is known, and when a stack is called complete.
@Suite struct StackUnwinderTests {
  private static func unwind(
    _ program: ScriptedProgram, filler: (UInt64) -> UInt64 = { _ in 0 }
  ) -> (stack: Stack, addresses: [UInt64]) {
    let (capture, addresses) = program.capture(filler: filler)
    var unwinder = StackUnwinder(capture, source: program)
    return (unwinder.unwind(), addresses)
  }

  @Test func tablesLeadToTheEnd() {
    let (stack, addresses) = Self.unwind(ScriptedProgram(rules: [.outermost, .fixed(64), .fixed(8), .fixed(4096)]))
    #expect(stack.frames.map(\.address) == addresses)
    #expect(stack.isComplete)
    #expect(stack.certainty == .tables)
    #expect(stack.frames.map(\.isExact) == [true, false, false, false])
    #expect(stack.frames[1].lookupAddress == addresses[1] - 1)
  }

  @Test func aMissingFramePointerIsFoundOnTheStack() {
    let program = ScriptedProgram(rules: [.outermost, .framePointer(64), .framePointer(96), .fixed(32)])
    let (stack, addresses) = Self.unwind(program)
    #expect(stack.frames.map(\.address) == addresses)
    #expect(stack.isComplete)
    // The frame that wants rbp was reached without it.
    #expect(stack.frames.map(\.certainty) == [.tables, .tables, .framePointerFound, .framePointerFound])
  }

  /// Compilers use rbp for anything: what a function finds there and saves need not be an address.
  @Test func aSavedFramePointerMayBeAnything() {
    let program = ScriptedProgram(rules: [.outermost, .fixed(64), .fixed(48), .framePointer(96)])
    for outer in [0, 1, 7, UInt64.max, 0x7fff_0000_0001] as [UInt64] {
      let (capture, addresses) = program.capture(outerFramePointer: outer)
      var unwinder = StackUnwinder(capture, source: program)
      let stack = unwinder.unwind()
      #expect(stack.frames.map(\.address) == addresses && stack.isComplete, "\(outer)")
    }
  }

  @Test func codeWithoutTablesThatKeepsFramePointers() {
    let (stack, addresses) = Self.unwind(ScriptedProgram(rules: [.outermost, .bare(64), .bare(48), .bare(32)]))
    #expect(stack.frames.map(\.address) == addresses)
    #expect(stack.isComplete)
    #expect(stack.certainty == .framePointerFound)
  }

  @Test func codeWithoutAnythingIsGuessed() {
    let (stack, addresses) = Self.unwind(ScriptedProgram(rules: [.outermost, .blind(64), .blind(48), .fixed(32)]))
    #expect(stack.frames.map(\.address) == addresses)
    #expect(stack.frames.map(\.certainty) == [.tables, .tables, .guessed, .guessed])
    // Frames may be missing before each of them.
    #expect(stack.end == .noTables)
  }

  @Test func aRuleThatCannotBeComputedIsNoEnd() {
    // rbp is nowhere: the chain must not be called complete (S3).
    let program = ScriptedProgram(rules: [.outermost, .fixed(32), .framePointer(96), .fixed(32)])
    let whole = program.capture().capture
    let copy = StackCopy(start: whole.copy.start, bytes: Array(whole.copy.bytes.prefix(48)))
    var unwinder = StackUnwinder(
      ThreadCapture(registers: whole.registers, mappings: whole.mappings, copy: copy), source: program)
    let stack = unwinder.unwind()
    #expect(!stack.isComplete)
    #expect(stack.end == .unknownRegister)
    #expect(stack.frames.count == 2)
  }

  @Test func aRecursionWithoutEndIsCut() {
    let rules: [ScriptedProgram.Rule] = [.outermost] + Array(repeating: .fixed(16), count: 3000)
    let (stack, addresses) = Self.unwind(ScriptedProgram(rules: rules))
    #expect(stack.frames.count == Stack.framesMax)
    #expect(stack.frames.map(\.address) == Array(addresses.prefix(Stack.framesMax)))
    #expect(stack.end == .tooDeep)
  }

  @Test(arguments: TestSeed.seeds) func randomProgramsOfTablesAreFoundWhole(seed: UInt64) throws {
    try Fuzz.run("stacks: tables", seed: seed, cases: 500) { random, note in
      let sizes: [UInt64] = [24, 32, 64, 120, 512]
      var rules: [ScriptedProgram.Rule] = [.outermost]
      for _ in 0..<(1 + random.below(30)) {
        let size = random.element(of: sizes)
        rules.append(random.oneIn(3) ? .framePointer(size) : .fixed(size))
      }
      // The outermost frame with rbp has saved a zero; all words that are not frames are small numbers.
      let (stack, addresses) = Self.unwind(ScriptedProgram(rules: rules)) { $0 >> 3 & 0xff }
      #expect(stack.frames.map(\.address) == addresses, "\(note): \(rules)")
      #expect(stack.isComplete, "\(note): \(rules)")
    }
  }

  @Test(arguments: TestSeed.seeds) func anyStackEnds(seed: UInt64) throws {
    try Fuzz.run("stacks: words", seed: seed, cases: 300) { random, note in
      let kinds: [ScriptedProgram.Rule] = [.fixed(24), .framePointer(32), .bare(48), .blind(24), .fixed(8)]
      let program = ScriptedProgram(
        rules: [.outermost] + (0..<8).map { _ in random.element(of: kinds) }, hasSymbols: random.oneIn(2))
      let (capture, _) = program.capture()
      let start = capture.copy.start
      var words: [UInt8] = []
      for _ in 0..<1024 {
        let numbers: [UInt64] = [
          0, random.next(), start + UInt64(random.below(8192)) & ~7, ScriptedProgram.returnAddress(random.below(9)),
        ]
        withUnsafeBytes(of: random.element(of: numbers)) { words += $0 }
      }
      var unwinder = StackUnwinder(
        ThreadCapture(
          registers: capture.registers, mappings: capture.mappings, copy: StackCopy(start: start, bytes: words)),
        source: program)
      let stack = unwinder.unwind()
      #expect(stack.frames.count <= Stack.framesMax, "\(note)")
      #expect(!stack.frames.isEmpty, "\(note)")
    }
  }

  @Test func callInstructions() {
    let after: UInt64 = 0x40_1000
    func site(_ tail: [UInt8]) -> CallSite {
      CallSite(Array(repeating: 0x90, count: 7 - tail.count) + tail, returnAddress: after)
    }
    #expect(site([0xe8, 0xfb, 0xff, 0xff, 0xff]) == .direct(target: after - 5))
    for tail: [UInt8] in [
      [0xff, 0xd0], [0x41, 0xff, 0xd3], [0xff, 0x50, 0x08], [0xff, 0x54, 0x24, 0x08], [0xff, 0x15, 1, 2, 3, 4],
      [0xff, 0x94, 0x24, 1, 2, 3, 4],
    ] { #expect(site(tail) == .indirect, "\(tail)") }
    for tail: [UInt8] in [[0xff, 0xe0], [0xff, 0x25, 1, 2, 3, 4], [0xc3], [0xe9, 1, 2, 3, 4]] {
      #expect(site(tail) == .none, "\(tail)")
    }
    #expect(CallSite([0xe8], returnAddress: after) == .none)
  }
}
