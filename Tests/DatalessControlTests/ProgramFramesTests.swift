import Testing

@testable import DatalessCommands
@testable import DatalessControl

/// Which frame of a stack is the program's own, on stacks as programs have them.
@Suite struct ProgramFramesTests {
  private static let libc = "/usr/lib/x86_64-linux-gnu/libc.so.6"
  private static let libstdcxx = "/usr/lib/x86_64-linux-gnu/libstdc++.so.6.0.30"
  private static let program = "/code/p/viewer"

  private static func frame(
    _ symbol: String?, _ file: String? = nil, _ line: UInt32? = nil, in module: String = program
  ) -> CallerFrame {
    CallerFrame(
      module: Array(module.utf8), offset: 0x11e3, symbol: symbol.map { Array($0.utf8) },
      file: file.map { Array($0.utf8) }, line: line, foundBy: "tables")
  }

  private static let read = frame("__read", "../sysdeps/unix/sysv/linux/read.c", 26, in: libc)
  private static let start = [
    frame("__libc_start_call_main", "../sysdeps/nptl/libc_start_call_main.h", 58, in: libc), frame("_start"),
  ]

  private static func stack(_ frames: [CallerFrame]) -> CallerStack {
    CallerStack(isComplete: true, end: "outermost", frames: [read] + frames + start)
  }

  private static func interpreted(_ language: String, _ frames: [(String, String, UInt32)]) -> CallerStack {
    var stack = stack([frame("_Py_read", in: "/usr/lib/x86_64-linux-gnu/libpython3.11.so.1.0")])
    stack.interpreted = InterpretedCaller(
      language: language, isReadable: true, isComplete: true,
      frames: frames.map { InterpretedFrame(function: Array($0.0.utf8), file: Array($0.1.utf8), line: $0.2) })
    return stack
  }

  private static func own(_ stack: CallerStack) -> String? {
    ProgramFrames(stack).own.map { stack.interpreted?.frames[$0].function ?? stack.frames[$0].symbol ?? "" }
  }

  @Test func theLibraryOfCIsLeftOut() {
    let stack = Self.stack([Self.frame("load", "/code/p/c.c", 6), Self.frame("main", "/code/p/c.c", 8)])
    #expect(StackText.summary(stack) == "load (c.c:6) < main (c.c:8)")
  }

  @Test func theLibraryOfCxxIsLeftOutButForWhatWasCalled() {
    let stack = Self.stack(
      [
        Self.frame("std::__basic_file<char>::xsgetn(char*, long)", in: Self.libstdcxx),
        Self.frame("std::istream::read(char*, long)", in: Self.libstdcxx),
        // One that was inlined has no namespace; its file tells.
        Self.frame("__invoke<main(int, char**)::<lambda()> >", "/usr/include/c++/12/bits/invoke.h", 96),
        Self.frame("gal::Loader<std::string>::load(std::string const&)", "/code/p/cc.cpp", 10),
        Self.frame("std::for_each<int*>(int*, int*)", "/opt/gcc/include/c++/12/bits/stl_algo.h", 4),
        Self.frame("main", "/code/p/cc.cpp", 12),
      ])
    #expect(Self.own(stack) == "gal::Loader<std::string>::load(std::string const&)")
    let text = StackText.summary(stack)
    #expect(text.hasPrefix("__invoke<main(int, char**)::<lambda()> > (invoke.h:96) < gal::Loader<std::string>::load"))
    #expect(text.hasSuffix("(cc.cpp:10) < std::for_each<int*>(int*, int*) (stl_algo.h:4) < main (cc.cpp:12)"))
  }

  @Test(arguments: [
    ("std::vector<int> gallery::load<int>(int)", false), ("void std::__invoke_impl<void>(gallery::F&&)", true),
    ("gallery::(anonymous namespace)::load(std::string)", false), ("(anonymous namespace)::load(int)", false),
    ("std::ostream& std::operator<< <char>(std::ostream&, char)", true), ("__gnu_cxx::new_allocator<A>::f()", true),
    ("core::load(int)", false), ("core::ops::function::FnOnce::call_once", true), ("r::gal::L::load", false),
    ("<std::fs::File as std::io::Read>::read", true), ("<viewer::Album as std::io::Read>::read", false),
    ("<&mut viewer::Album as core::fmt::Display>::fmt", false), ("<[u8]>::to_vec", true),
    ("<alloc::vec::Vec<viewer::A> as viewer::Load>::load", false), ("stdx::load(int)", false),
    ("<alloc::vec::Vec<fn(u8) -> viewer::A> as core::clone::Clone>::clone", true),
    ("Foundation.Data.init(contentsOf: Foundation.URL) throws -> Foundation.Data", true),
    ("viewer.load(Swift.String) -> Swift.UInt8", false), ("(extension in viewer):Swift.String.load() -> ()", false),
    ("(extension in Foundation):Swift.String.write() -> ()", true), ("closure #1 () -> () in viewer.main()", false),
    ("", false), ("<", true), ("<<<>>>", true), ("(", false), (" ", false),
  ]) func aNameTellsWhoseItIs(symbol: String, isRuntime: Bool) {
    #expect(SymbolOrigin.of(symbol) == (isRuntime ? .runtime : .program))
  }

  @Test func theLibraryOfGoIsLeftOut() {
    func go(_ symbol: String, _ file: String, _ line: UInt32) -> CallerFrame { Self.frame(symbol, file, line) }
    let root = "/usr/lib/go-1.19/src/"
    let frames = [
      go("runtime/internal/syscall.Syscall6", root + "runtime/internal/syscall/asm_linux_amd64.s", 36),
      go("internal/poll.(*FD).Read", root + "syscall/syscall_unix.go", 183),
      go("os.ReadFile", root + "os/file.go", 725),
      go("github.com/x/y.Load", "/root/go/pkg/mod/github.com/x/y@v1/y.go", 3),
      go("main.loadThumb", "/code/p/g.go", 3), go("main.main", "/code/p/g.go", 5),
      go("runtime.main", root + "runtime/proc.go", 250), go("runtime.goexit", root + "runtime/asm_amd64.s", 1594),
    ]
    let stack = CallerStack(isComplete: true, end: "outermost", frames: frames)
    #expect(
      StackText.summary(stack) == "github.com/x/y.Load (y.go:3) < main.loadThumb (g.go:3) < main.main (g.go:5)")
    func origin(_ symbol: String, _ file: String) -> FrameOrigin? { SourceOrigin.of(Array(file.utf8), symbol: symbol) }
    // Built with -trimpath; modules without a domain, also one that is called as a package of the library.
    #expect(origin("os.ReadFile", "os/file.go") == .runtime)
    #expect(origin("shop/load.Read", "shop/load/load.go") == .program)
    #expect(origin("image.Load", "/home/u/image/load.go") == .program)
    #expect(origin("main.Map[github.com/x/y.T]", "/code/p/g.go") == .program)
    #expect(origin("example.com/shop.Load", "/code/shop/load.go") == .program)
  }

  @Test func theLibraryOfRustIsLeftOut() {
    let stack = Self.stack(
      [
        Self.frame("<std::fs::File as std::io::Read>::read", "library/std/src/sys/fd/unix.rs", 112),
        Self.frame("png::decode", "/root/.cargo/registry/src/index.crates.io-1/png-0.17/src/lib.rs", 9),
        Self.frame("r::read_it", "/code/p/r.rs", 4),
        Self.frame("std::sys::backtrace::__rust_begin_short_backtrace", "/rustc/5/library/core/src/ops/function.rs", 1),
        Self.frame("std::rt::lang_start", "/rustc/59/library/std/src/rt.rs", 205), Self.frame("main"),
      ])
    #expect(StackText.summary(stack) == "png::decode (lib.rs:9) < r::read_it (r.rs:4)")
  }

  @Test func theLibraryOfSwiftIsLeftOut() {
    let stack = Self.stack(
      [
        Self.frame("FoundationEssentials.f() -> ()", in: "/opt/swift/usr/lib/swift/linux/libFoundationEssentials.so"),
        Self.frame("albums.listAlbums(in: Swift.String) throws -> [Swift.String]", "/code/p/albums.swift", 6),
      ])
    #expect(Self.own(stack)?.hasPrefix("albums.listAlbums(") == true)
  }

  @Test func theLibraryOfPythonIsLeftOut() {
    let stack = Self.interpreted(
      "python",
      [
        ("RawConfigParser._read", "/usr/lib/python3.11/configparser.py", 1059),
        ("RawConfigParser.read", "/usr/lib/python3.11/configparser.py", 700),
        ("settings", "/code/p/lib/settings.py", 3), ("<module>", "/code/p/fm.py", 8),
        ("_run_code", "<frozen runpy>", 88),
      ])
    #expect(
      StackText.summary(stack)
        == "RawConfigParser.read (configparser.py:700) < settings (settings.py:3) < <module> (fm.py:8)")
  }

  /// A program that is installed has no source but in packages; the lines that begin it are not the place to look at.
  @Test func packagesAreThePlaceWhereNothingElseIs() {
    let site = "/code/.venv/lib/python3.11/site-packages/"
    let frames: [(String, String, UInt32)] = [
      ("Path.open", "/usr/lib/python3.11/pathlib.py", 1044), ("load", site + "shop/load.py", 2),
      ("<module>", "/code/.venv/bin/shop", 8),
    ]
    #expect(Self.own(Self.interpreted("python", frames)) == "load")
    #expect(Self.own(Self.interpreted("python", frames.dropLast() + [("test", "/code/test_shop.py", 4)])) == "test")
    #expect(Self.own(Self.interpreted("node", [("f", "/code/node_modules/f/i.js", 1), ("g", "/code/g.js", 2)])) == "g")
  }

  @Test func theLibraryOfNodeIsLeftOut() {
    let stack = Self.interpreted(
      "node",
      [
        ("readSync", "node:fs", 708), ("readFileSync", "node:fs", 441), ("load", "file:///code/p/e.mjs", 2),
        ("main", "/code/p/server.js", 3), ("(anonymous)", "node:internal/modules/cjs/loader", 1483),
      ])
    #expect(StackText.summary(stack) == "readFileSync (node:fs:441) < load (e.mjs:2) < main (server.js:3)")
  }

  /// Of node only the lines are known at which functions begin.
  @Test func theLineOfAFunctionIsNotTheOneOfTheCall() {
    var stack = Self.interpreted("node", [("load", "/code/nb.cjs", 2), ("main", "/code/nb.cjs", 6)])
    stack.interpreted?.hasFunctionLines = true
    #expect(StackText.summary(stack) == "load, which begins (nb.cjs:2) < main, which begins (nb.cjs:6)")
    let place = SummaryStacks.Place(stack)
    #expect(place == .init(function: "load", file: "/code/nb.cjs", line: 2, isFunctionLine: true))
    #expect(place?.text == "load, which begins (nb.cjs:2)")
    var longest = SummaryReport.LongestWait(
      trigger: "read", blockedNanoseconds: 1, function: "load", file: "/code/nb.cjs", line: 2)
    #expect(longest.place?.text == "load (nb.cjs:2)")
    longest.hasFunctionLines = true
    #expect(longest.place == place)
  }

  /// What the program's own library or a stripped file is called, without a line, is outside of the place to look at.
  @Test func aFrameWithALineComesBeforeOneWithout() {
    let stack = Self.stack(
      [Self.frame("foo_read", in: "/code/p/libfoo.so"), Self.frame("load", "p/c.c", 6), Self.frame("main", "p/c.c", 8)])
    #expect(StackText.summary(stack) == "foo_read (libfoo.so+0x11e3) < load (c.c:6) < main (c.c:8)")
    let stripped = Self.stack([Self.frame(nil)])
    #expect(StackText.summary(stripped) == "viewer+0x11e3")
    #expect(SummaryStacks.Place(stripped) == .init(function: "viewer+0x11e3"))
  }

  @Test func withoutAFrameOfTheProgramAllAreShown() {
    let java = [Self.frame("handleRead", in: "/usr/lib/jvm/java-17/lib/libjava.so"), Self.frame(nil, in: "")]
    let stack = CallerStack(isComplete: true, end: "outermost", frames: [Self.read] + java)
    #expect(ProgramFrames(stack).own == nil)
    #expect(StackText.summary(stack) == "handleRead (libjava.so+0x11e3) < 0x11e3")
    #expect(SummaryStacks.Place(stack) == .init(function: "handleRead"))
    let none = CallerStack(isComplete: false, end: "no_tables", frames: [])
    #expect(ProgramFrames(none).shown.isEmpty && StackText.summary(none).isEmpty && SummaryStacks.Place(none) == nil)
    let libraryAlone = CallerStack(isComplete: false, end: "no_tables", frames: [Self.read])
    #expect(StackText.summary(libraryAlone) == "__read (read.c:26) < ... (incomplete)")
  }

  /// A chain that ends too early is called so; a guess in it says as much.
  @Test func aLineOfTextSaysThatFunctionsAreMissing() {
    var stack = CallerStack(
      isComplete: false, end: "too_deep",
      frames: [Self.read, Self.frame("inl", "v.c", 17), Self.frame("big", "v.c", 38)])
    #expect(StackText.summary(stack) == "inl (v.c:17) < big (v.c:38) < ... (incomplete)")
    #expect(StackText.summary(stack, framesMax: 1) == "inl (v.c:17) < ... (incomplete)")
    stack.frames[2].foundBy = "guess"
    #expect(StackText.summary(stack) == "inl (v.c:17) < big (v.c:38) [guessed]")
    var python = Self.interpreted("python", [("load", "/code/f.py", 2)])
    (python.isComplete, python.end) = (false, "no_tables")
    #expect(StackText.summary(python) == "load (f.py:2)")
    python.interpreted?.isComplete = false
    #expect(StackText.summary(python) == "load (f.py:2) < ... (incomplete)")
    python.interpreted?.language = "node"
    #expect(StackText.summary(python) == "load (f.py:2)")
  }

  /// A program that is installed among libraries is no library.
  @Test func aLibraryIsTheSystemsByItsPlace() {
    func origin(_ module: String) -> FrameOrigin { FrameOrigin(Self.frame("f", in: module), inner: nil) }
    for module in [Self.libc, "/lib64/libz.so.1", "/usr/lib64/libz.so", "/snap/x/lib/libstdc++.so.6", "[vdso]"] {
      #expect(origin(module) == .runtime, "\(module)")
    }
    for module in ["/usr/lib/git-core/git", "/code/libfoo.so", "/usr/local/lib/libfoo.so", "/usr/bin/cat", ""] {
      #expect(origin(module) == .program, "\(module)")
    }
  }

  @Test func theSummaryNamesTheProgramsPlace() {
    let stack = Self.stack(
      [Self.frame("std::istream::read(char*)", in: Self.libstdcxx), Self.frame("load(int)", "/code/p/cc.cpp", 10)])
    #expect(SummaryStacks.Place(stack) == .init(function: "load(int)", file: "/code/p/cc.cpp", line: 10))
    let python = Self.interpreted("python", [("open", "/usr/lib/python3.11/pathlib.py", 1), ("load", "/w/f.py", 2)])
    #expect(SummaryStacks.Place(python) == .init(function: "load", file: "/w/f.py", line: 2))
  }
}
