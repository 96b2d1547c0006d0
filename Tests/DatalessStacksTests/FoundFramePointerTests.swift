import Testing

@testable import DatalessStacks

/// Which of several places on a stack is taken for rbp's: a chain that begins too far out ends as it should, but lacks
/// the frames between.
@Suite struct FoundFramePointerTests {
  private static func unwind(
    _ program: ScriptedProgram, outerFramePointer: UInt64 = 0, filler: (UInt64) -> UInt64 = { _ in 0 }
  ) -> (stack: Stack, addresses: [UInt64]) {
    let (capture, addresses) = program.capture(outerFramePointer: outerFramePointer, filler: filler)
    var unwinder = StackUnwinder(capture, source: program)
    return (unwinder.unwind(), addresses)
  }

  /// A library with frame pointers, called through a table of addresses by functions that use rbp for anything.
  @Test func aCallerThatUsesRbpForAnythingIsNotPassedOver() {
    var program = ScriptedProgram(rules: [.outermost, .fixed(64), .fixed(48), .fixed(80), .framePointer(96)])
    program.callsIndirectly = true
    for hasPrologues in [false, true] {
      program.hasPrologues = hasPrologues
      for outer in [0, 1, 7, UInt64.max, 0x7fff_0000_0001] as [UInt64] {
        let (stack, addresses) = Self.unwind(program, outerFramePointer: outer)
        #expect(stack.frames.map(\.address) == addresses && stack.isComplete, "\(outer)")
        #expect(stack.certainty == .framePointerFound)
      }
    }
  }

  /// What an earlier call has left in a large frame: by the tables its caller would be no code.
  @Test func aLeftOverAddressThatLeadsNowhereIsPassedOver() {
    var program = ScriptedProgram(rules: [.outermost, .fixed(64), .fixed(48), .framePointer(256)])
    program.callsIndirectly = true
    let start = program.capture().capture.copy.start
    let (stack, addresses) = Self.unwind(program, outerFramePointer: 7) {
      $0 == start + 24 ? ScriptedProgram.returnAddress(1) : 0
    }
    #expect(stack.frames.map(\.address) == addresses && stack.isComplete)
  }

  /// One that leads as far as the right one: where rbp is, the function's code says.
  @Test func theCodeOfTheFunctionSaysWhereRbpIs() {
    var program = ScriptedProgram(rules: [.outermost, .fixed(64), .fixed(48), .framePointer(256)])
    program.callsIndirectly = true
    program.hasPrologues = true
    let start = program.capture().capture.copy.start
    let (stack, addresses) = Self.unwind(program, outerFramePointer: 7) {
      $0 == start + 24 ? ScriptedProgram.returnAddress(0) : 0
    }
    #expect(stack.frames.map(\.address) == addresses && stack.isComplete)
  }

  /// A frame that is larger than what is searched.
  @Test func aLargeFrameIsLeftByItsCode() {
    var program = ScriptedProgram(rules: [.outermost, .fixed(64), .fixed(48), .framePointer(64 << 10)])
    program.hasPrologues = true
    let (stack, addresses) = Self.unwind(program, outerFramePointer: 7)
    #expect(stack.frames.map(\.address) == addresses && stack.isComplete)
  }

  @Test func generatedCodeThatKeepsRbpIsPartOfTheChain() {
    var program = ScriptedProgram(rules: [.outermost, .fixed(32), .bare(48), .framePointer(64)])
    program.callsIndirectly = true
    program.unseen = [2]
    let (stack, addresses) = Self.unwind(program)
    #expect(stack.frames.map(\.address) == addresses && stack.isComplete)
    #expect(stack.certainty == .framePointerFound)
  }

  /// Nobody knows how large its frames are: what comes next is the nearest address, and others may be missing.
  @Test(arguments: [1, 7, 0x7fff_0000_0001, 0x7fff_000f_fff0] as [UInt64], [64, 512] as [UInt64])
  func generatedCodeWithoutRbpIsNotPassedOver(outer: UInt64, size: UInt64) {
    var program = ScriptedProgram(
      rules: [.outermost, .fixed(32), .fixed(64), .blind(size), .blind(48), .framePointer(64)])
    program.callsIndirectly = true
    program.unseen = [3, 4]
    let (stack, addresses) = Self.unwind(program, outerFramePointer: outer)
    #expect(stack.frames.map(\.address) == addresses)
    #expect(!stack.isComplete)
    #expect(stack.frames.last?.certainty == .guessed)
  }

  /// The thread stands in what generated code has called by the tables.
  @Test func theCallerOfGeneratedCodeIsAGuess() {
    var program = ScriptedProgram(rules: [.outermost, .fixed(32), .bare(48), .fixed(64)])
    program.callsIndirectly = true
    program.unseen = [2]
    let (stack, addresses) = Self.unwind(program, outerFramePointer: 7)
    #expect(stack.frames.map(\.address) == addresses)
    #expect(stack.frames.map(\.certainty) == [.tables, .tables, .guessed, .guessed])
    #expect(stack.end == .noTables)
  }

  /// Which of two addresses in it is its caller's, nothing says.
  @Test func aLeftOverAddressInAFrameOfGeneratedCodeMakesAGuessOfTheNext() {
    var program = ScriptedProgram(rules: [.outermost, .fixed(32), .bare(256), .fixed(64)])
    program.callsIndirectly = true
    program.unseen = [2]
    let start = program.capture().capture.copy.start
    let (stack, addresses) = Self.unwind(program) { $0 == start + 64 + 24 ? ScriptedProgram.returnAddress(1) : 0 }
    #expect(stack.frames.map(\.address) == addresses)
    #expect(stack.frames.last?.certainty == .guessed)
    #expect(stack.end == .noTables)
  }

  /// Of code that is known to keep rbp, as V8's is, a left-over address decides nothing.
  @Test func aLeftOverAddressInAFrameOfCodeThatKeepsRbpIsPassedOver() {
    var program = ScriptedProgram(rules: [.outermost, .fixed(32), .bare(64), .bare(256), .framePointer(64)])
    program.callsIndirectly = true
    program.unseen = [2, 3]
    let start = program.capture().capture.copy.start
    let left: (UInt64) -> UInt64 = { $0 == start + 64 + 24 ? ScriptedProgram.returnAddress(1) : 0 }
    let (taken, addresses) = program.capture(filler: left)
    var capture = taken
    var unknown = StackUnwinder(capture, source: program)
    #expect(!unknown.unwind().isComplete)
    capture.framedCode = [ScriptedProgram.start(2)..<ScriptedProgram.start(4)]
    var known = StackUnwinder(capture, source: program)
    let stack = known.unwind()
    #expect(stack.frames.map(\.address) == addresses && stack.isComplete)
    #expect(stack.certainty == .framePointerFound)
  }

  /// A chain by rbp in a function whose code says that rbp is not its own.
  @Test func codeThatDoesNotKeepRbpIsNotLeftByIt() {
    var program = ScriptedProgram(rules: [.outermost, .fixed(32), .bare(48), .blind(48), .fixed(40), .framePointer(64)])
    for callsIndirectly in [false, true] {
      program.callsIndirectly = callsIndirectly
      let (stack, addresses) = Self.unwind(program)
      #expect(stack.frames.map(\.address) == addresses)
      #expect(!stack.isComplete)
    }
  }

  @Test func aCallerOnAVolumeIsNotPassedOver() {
    var program = ScriptedProgram(rules: [.outermost, .fixed(32), .fixed(64), .framePointer(64)])
    program.callsIndirectly = true
    let (whole, addresses) = program.capture(outerFramePointer: 7)
    let code = whole.mappings.mappings[0]
    // The two functions in the middle are on a volume.
    let parts: [Range<UInt64>] = [
      code.start..<ScriptedProgram.start(1), ScriptedProgram.start(3)..<code.end,
    ]
    let mappings = MappingTable(
      mappings: parts.map {
        Mapping(
          executableFrom: $0.lowerBound, to: $0.upperBound, fileOffset: 0, device: code.device, inode: code.inode,
          path: code.path)
      }, onVolumes: [ScriptedProgram.start(1)..<ScriptedProgram.start(3)])
    var unwinder = StackUnwinder(
      ThreadCapture(registers: whole.registers, mappings: mappings, copy: whole.copy), source: program)
    let stack = unwinder.unwind()
    #expect(stack.frames.map(\.address) == Array(addresses.prefix(1)))
    #expect(stack.end == .onVolume)
  }
}
