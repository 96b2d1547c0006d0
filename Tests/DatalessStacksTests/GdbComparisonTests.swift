import Glibc
import Testing

@testable import DatalessStacks

/// Chains against those of gdb, address by address, of the same thread: `make stacks-check`. gdb stops the program that
/// it looks at, which is why these wait for a pipe, not for a volume.
@Suite(.enabled(if: getenv("DATALESS_GDB") != nil, "set DATALESS_GDB to the path of gdb")) struct GdbComparisonTests {
  private struct Build {
    let name: String
    var options: [String] = []
    var compiler = "cc"
    var source = BlockedProgram.source
  }

  private static let cxx = """
    #include <unistd.h>
    #include <functional>
    #include <vector>
    #include <algorithm>
    namespace photos {
    struct Loader { virtual ~Loader() = default; virtual int load(int n); };
    int Loader::load(int n) { char b = 0; return (int)read(0, &b, 1) + n + b; }
    template <typename T> [[gnu::noinline]] int each(const std::vector<int> &v, T &&f) {
      int sum = 0; std::for_each(v.begin(), v.end(), [&](int n) { sum += f(n); }); return sum; }
    }
    int main() {
      photos::Loader *loader = new photos::Loader;
      std::function<int(int)> f = [loader](int n) { return loader->load(n); };
      return photos::each({1}, f) & 1; }
    """

  private static let builds = [
    Build(name: "C, -O0", options: ["-O0", "-g"]), Build(name: "C, -O2", options: ["-O2", "-g"]),
    Build(name: "C, -O2, stripped", options: ["-O2", "-s"]),
    Build(name: "C, frame pointers", options: ["-O1", "-fno-omit-frame-pointer"]),
    Build(name: "C, static", options: ["-O2", "-static"]),
    Build(
      name: "C, alloca", options: ["-O2"],
      source: """
        #include <alloca.h>
        #include <string.h>
        #include <unistd.h>
        __attribute__((noinline)) static int f(int n) { char *p = alloca(n * 64); memset(p, 1, n * 64); return (int)read(0, p, 1) + p[3]; }
        __attribute__((noinline)) static int g(int n) { return f(n + 3) * 2; }
        int main(int n, char **w) { (void)w; return g(n) & 1; }
        """),
    Build(
      name: "C, stdio", options: ["-O2"],
      source: "#include <stdio.h>\nint main(void) { char b[64]; return fgets(b, 64, stdin) == NULL; }"),
    Build(
      name: "C, qsort", options: ["-O2"],
      source: """
        #include <stdlib.h>
        #include <unistd.h>
        static int less(const void *a, const void *b) { char c; read(0, &c, 1); return *(int *)a - *(int *)b; }
        int main(void) { int v[4] = {3, 1, 2, 0}; qsort(v, 4, sizeof *v, less); return v[0]; }
        """),
    Build(name: "C++, -O0", options: ["-x", "c++", "-std=c++17", "-O0", "-g"], compiler: "c++", source: cxx),
    Build(name: "C++, -O2", options: ["-x", "c++", "-std=c++17", "-O2"], compiler: "c++", source: cxx),
    Build(name: "C++, clang", options: ["-x", "c++", "-std=c++17", "-O1"], compiler: "clang++", source: cxx),
  ]

  private static func ours(_ processID: Int32) throws -> (addresses: [UInt64], end: Stack.End) {
    let taken = try ThreadCapture.take(processID: processID, threadID: processID, volumes: []) { _, _, _ in }.get()
    let files = MappedFiles(taken.capture.mappings, library: try DwarfLibrary()) {
      CallerFile.open($0, of: processID)
    }
    var unwinder = StackUnwinder(taken.capture, source: files)
    let stack = unwinder.unwind()
    return (stack.frames.map(\.address), stack.end)
  }

  /// The addresses of gdb's frames, without those of functions that are inlined, and of those that have called the next
  /// one as their last step: gdb concludes that they were there, and nothing on the stack says so.
  private static func theirs(_ processID: Int32) throws -> [UInt64] {
    let code = #"""
      exec("f=gdb.newest_frame()\nwhile f is not None:\n  if f.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME): print('PC %x' % f.pc())\n  f=f.older()")
      """#
    let gdb = getenv("DATALESS_GDB").map { String(cString: $0) } ?? "gdb"
    let command =
      "'\(gdb)' -nx -batch -p \(processID) -ex 'set backtrace past-main on' -ex 'python \(Self.quoted(code))' 2>&1"
    guard let stream = popen(command, "r") else { throw BlockedProgram.Failure(what: "popen") }
    defer { pclose(stream) }
    var addresses: [UInt64] = []
    var line = [CChar](repeating: 0, count: 4096)
    while fgets(&line, Int32(line.count), stream) != nil {
      let words = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        .split(whereSeparator: \.isWhitespace)
      if words.count == 2, words[0] == "PC", let address = UInt64(words[1], radix: 16) { addresses.append(address) }
    }
    return addresses
  }

  /// For the inside of single quotes of a shell.
  private static func quoted(_ text: String) -> String {
    text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'"'"'"#)
  }

  private static func compare(_ name: String, _ program: BlockedProgram) throws {
    let (own, end) = try ours(program.processID)
    let gdbs = try theirs(program.processID)
    print(
      "stacks: \(name): \(own.count) frames, \(end.rawValue); gdb: \(gdbs.count), \(own == gdbs ? "equal" : "NOT EQUAL")"
    )
    #expect(own == gdbs, "\(name): \(own.map { String($0, radix: 16) }) \(gdbs.map { String($0, radix: 16) })")
    #expect(end == .outermost, "\(name)")
  }

  @Test func compiledPrograms() throws {
    for build in Self.builds {
      guard let program = try? BlockedProgram(source: build.source, options: build.options, compiler: build.compiler)
      else {
        print("stacks: \(build.name): not built")
        continue
      }
      try Self.compare(build.name, program)
    }
  }

  @Test func interpreters() throws {
    if let program = try? BlockedProgram(python: "import os\ndef f():\n    return os.read(0, 1)\nf()\n") {
      try Self.compare("CPython", program)
    }
    if let program = try? BlockedProgram(bash: "f() {\n  read -r x\n}\nf\n") { try Self.compare("bash", program) }
  }
}
