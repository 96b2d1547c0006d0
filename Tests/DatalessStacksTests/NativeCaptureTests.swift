import Testing

@testable import DatalessStacks

/// A real thread that waits, from its registers to the names of its functions, with nothing stopped.
@Suite struct NativeCaptureTests {
  /// Compilers' options, and what is expected of the frames of the program.
  static let builds: [(options: [String], certainty: FrameCertainty)] = [
    (["-O1", "-g", "-fomit-frame-pointer", "-fno-optimize-sibling-calls"], .tables),
    (["-O0", "-g", "-fno-omit-frame-pointer"], .framePointerFound),
    (
      [
        "-O1", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", "-fno-asynchronous-unwind-tables",
        "-fno-unwind-tables",
      ], .framePointerFound
    ),
    (["-O1", "-g", "-static", "-fno-optimize-sibling-calls"], .tables),
  ]

  private static func take(_ program: BlockedProgram) throws -> ThreadCapture {
    try ThreadCapture.take(processID: program.processID, threadID: program.processID, volumes: []) { _, _, _ in }
      .get().capture
  }

  @Test(arguments: builds.indices) func aBlockedProgramIsNamedFrameByFrame(build: Int) throws {
    let (options, certainty) = Self.builds[build]
    let program = try BlockedProgram(options: options)
    let capture = try Self.take(program)
    #expect(capture.registers.call == 0)
    let files = MappedFiles(capture.mappings, library: try DwarfLibrary()) {
      CallerFile.open($0, of: program.processID)
    }
    var unwinder = StackUnwinder(capture, source: files)
    let stack = unwinder.unwind()
    let names = stack.frames.map { frame in
      files.function(at: frame.lookupAddress).map { String(decoding: $0.name, as: UTF8.self) } ?? "?"
    }
    #expect(stack.isComplete, "\(options): \(names) \(stack.end)")
    let first = try #require(names.firstIndex(of: "inner"), "\(options): \(names)")
    #expect(Array(names[first...].prefix(BlockedProgram.functions.count)) == BlockedProgram.functions, "\(options)")
    let main = first + BlockedProgram.functions.count - 1
    #expect(stack.frames[main].certainty == certainty, "\(options): \(stack.frames.map(\.certainty))")
    if options.contains("-g") {
      let line = files.place(of: stack.frames[first].lookupAddress)?.line
      #expect(line?.line == 3, "\(options)")
      #expect(line.map { String(decoding: $0.file, as: UTF8.self).hasSuffix("/p.c") } == true)
    }
  }

  /// The frames of a blocked program: names ("?" where there is none) and the chain.
  private static func named(_ program: BlockedProgram) throws -> (names: [String], stack: Stack) {
    let capture = try take(program)
    let files = MappedFiles(capture.mappings, library: try DwarfLibrary()) {
      CallerFile.open($0, of: program.processID)
    }
    var unwinder = StackUnwinder(capture, source: files)
    let stack = unwinder.unwind()
    let names = stack.frames.map { frame in
      guard let name = files.function(at: frame.lookupAddress)?.name, !name.isEmpty else { return "?" }
      return String(decoding: name, as: UTF8.self)
    }
    return (names, stack)
  }

  /// What has returned has left its frames where a later one has a buffer: rbp of those that are is told by where each
  /// function begins, which the unwind tables have.
  @Test func aStrippedProgramWithFramePointersHasTheFramesOfTheWholeOne() throws {
    let source = """
      #include <string.h>
      #include <unistd.h>
      static volatile char sink;
      static int used(int n) { char b[40]; memset(b, n, sizeof b); sink = b[n]; return n ? used(n - 1) + b[3] : 1; }
      static int inner(int n) { char b[900]; long r = read(0, b + 899, 1); sink = b[899]; return (int)r + n; }
      static int middle(int n) { return inner(n + 1) * 3; }
      static int outer(int n) { return middle(n) + 2; }
      int main(int count, char **words) { (void)words; int sum = used(6); sum += used(5); return (outer(count) + sum) & 1; }
      """
    let options = ["-O0", "-fno-omit-frame-pointer", "-fno-stack-protector", "-no-pie"]
    let whole = try Self.named(try BlockedProgram(source: source, options: options))
    let stripped = try Self.named(try BlockedProgram(source: source, options: options + ["-s"]))
    let first = try #require(whole.names.firstIndex(of: "inner"), "\(whole.names)")
    #expect(Array(whole.names[first...].prefix(4)) == ["inner", "middle", "outer", "main"], "\(whole.names)")
    #expect(stripped.names[first...].prefix(4).allSatisfy { $0 == "?" }, "\(stripped.names)")
    let range = first..<first + 4
    #expect(stripped.stack.frames[range].map(\.address) == whole.stack.frames[range].map(\.address))
    #expect(stripped.stack.isComplete && stripped.stack.certainty == .framePointerFound, "\(stripped.stack.end)")
  }

  /// By rbp alone it would be passed over, with the function that has called it; further out on the stack a chain
  /// begins that holds just as well, without main.
  @Test func codeWithoutTablesAmongFunctionsWithFramePointersEndsWhatIsKnown() throws {
    let source = """
      #include <unistd.h>
      long tramp(long (*)(void));
      __asm__(".text\\n.globl tramp\\n.type tramp,@function\\ntramp:\\nsubq $8,%rsp\\ncall *%rdi\\naddq $8,%rsp\\nret\\n.size tramp,.-tramp\\n");
      __attribute__((noinline)) static long inner(void) { char b[64]; return read(0, b, 1); }
      __attribute__((noinline)) static long outer(void) { volatile long r = tramp(inner); return r + 1; }
      int main(void) { volatile long r = outer(); return r == -7; }
      """
    for options in [["-O0"], ["-O1", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls"]] {
      let (names, stack) = try Self.named(try BlockedProgram(source: source, options: options + ["-no-pie"]))
      let known = zip(names, stack.frames).filter { $0.1.certainty != .guessed }.map(\.0)
      #expect(!stack.isComplete, "\(options): \(names)")
      let first = try #require(names.firstIndex(of: "inner"), "\(names)")
      let expected = ["inner", "tramp", "outer", "main"]
      #expect(expected.starts(with: known.dropFirst(first).prefix(4)), "\(options): \(known) of \(names)")
    }
  }

  /// As a library that is built with frame pointers, and a program that is not: rbp is any number where it is called.
  @Test(arguments: [8, 6000]) func aFunctionWithFramePointersThatIsCalledByOneWithout(buffer: Int) throws {
    let program = try BlockedProgram(
      source: """
        #include <unistd.h>
        __attribute__((noinline, optimize("no-omit-frame-pointer"))) static long inner(long n) {
          char b[\(buffer)]; b[0] = 0; long r = read(0, b, 1); return r + n + b[0]; }
        static long (*volatile table)(long) = inner;
        __attribute__((noinline)) static long culprit(long k) {
          long a = k * 3, c = k * 5, d = k * 7, e = k * 11, f = k * 13, sum = 0;
          for (int i = 0; i < 2; i++) { sum += table(i) + a + c + d + e + f; a ^= c; c += d; d ^= e; e += f; f ^= a; }
          return sum; }
        __attribute__((noinline)) static long middle(long k) { return culprit(k) * 3; }
        int main(int count, char **words) { (void)words; return middle(count) & 1; }
        """, options: ["-O2", "-g", "-fomit-frame-pointer"])
    let (names, stack) = try Self.named(program)
    let first = try #require(names.firstIndex(of: "inner"), "\(names)")
    #expect(Array(names[first...].prefix(4)) == ["inner", "culprit", "middle", "main"], "\(names)")
    #expect(stack.isComplete && stack.certainty == .framePointerFound, "\(names) \(stack.end)")
  }

  /// push rbp; mov rbp, rsp; mov rax, target; call rax; pop rbp; ret
  @Test func generatedCodeIsNotPassedOver() throws {
    let program = try BlockedProgram(
      source: """
        #include <string.h>
        #include <sys/mman.h>
        #include <unistd.h>
        static long target(void) { char b[8]; return read(0, b, 1); }
        int main(void) {
          unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xd0, 0x5d, 0xc3};
          long where = (long)target;
          memcpy(code + 6, &where, 8);
          unsigned char *memory = mmap(0, 4096, 7, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
          if (memory == MAP_FAILED) return 1;
          memcpy(memory, code, sizeof code);
          return ((long (*)(void))memory)() < 0; }
        """, options: ["-O1", "-g", "-fomit-frame-pointer"])
    let (names, stack) = try Self.named(program)
    let first = try #require(names.firstIndex(of: "target"), "\(names)")
    #expect(Array(names[first...].prefix(3)) == ["target", "?", "main"], "\(names)")
    // Nobody can tell that there is nothing between generated code and what seems to have called it.
    #expect(!stack.isComplete || stack.certainty == .framePointerFound)
  }

  @Test func aThreadThatRanMeanwhileIsDiscarded() throws {
    let program = try BlockedProgram(options: ["-O0"])
    let result = ThreadCapture.take(processID: program.processID, threadID: program.processID, volumes: []) { _, _, _ in
      // As if the answer came in between.
      program.wake()
    }
    guard case .failure(.threadRan) = result else {
      Issue.record("a capture of a thread that went on")
      return
    }
  }

  @Test func nothingOfTheThreadChanges() throws {
    let program = try BlockedProgram(options: ["-O0"])
    let thread = ThreadFiles(processID: program.processID, threadID: program.processID)
    let before = try thread.look().get()
    for _ in 0..<100 { _ = try Self.take(program) }
    #expect(try thread.look().get() == before)
  }

  @Test func mappingsOfAVolumeAreNotOpened() throws {
    let program = try BlockedProgram(options: ["-O0"])
    let capture = try Self.take(program)
    let code = try #require(capture.mappings.mappings.first { $0.isFile && $0.isExecutable })
    let result = ThreadCapture.take(
      processID: program.processID, threadID: program.processID, volumes: [code.device]
    ) { mappings, memory, _ in memory.bytes(at: code.start, count: 8) == nil && !mappings.onVolumes.isEmpty }
    let (again, isRefused) = try result.get()
    #expect(isRefused)
    #expect(!again.mappings.mappings.contains { $0.device == code.device && $0.inode != 0 })
    var opened = 0
    let files = MappedFiles(again.mappings, library: try DwarfLibrary()) { mapping in
      #expect(mapping.device != code.device)
      opened += 1
      return CallerFile.open(mapping, of: program.processID)
    }
    var unwinder = StackUnwinder(again, source: files)
    #expect(!unwinder.unwind().isComplete)
  }

  @Test func aProcessThatIsNotThereHasNoStack() {
    let result = ThreadCapture.take(processID: .max, threadID: .max, volumes: []) { _, _, _ in }
    guard case .failure(.threadRan) = result else {
      Issue.record("a stack of nobody")
      return
    }
  }
}
