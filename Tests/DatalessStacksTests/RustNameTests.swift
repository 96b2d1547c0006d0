import TestSupport
import Testing

@testable import DatalessStacks

/// Rust's mangling v0. The expected names are those of rustc's own demangler.
@Suite struct RustNameTests {
  private static func name(_ symbol: String) -> String? {
    RustName.demangled(Array(symbol.utf8)).map { String(decoding: $0, as: UTF8.self) }
  }

  static let names: [(symbol: String, name: String)] = [
    ("_RNvCs1234_7mycrate3foo", "mycrate::foo"),
    ("_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar"),
    ("_RNCNvCsgStHSCytQ6I_7mycrate4main0B3_", "mycrate::main::{closure#0}"),
    ("_RNCNvCsgStHSCytQ6I_7mycrate4mains_0B3_", "mycrate::main::{closure#1}"),
    ("_RNSC3std6vtable0", "std::{shim:vtable#0}"),
    ("_RNvMCs4fqI2P2rA04_7mycrateNtB2_3Foo3bar", "<mycrate::Foo>::bar"),
    ("_RNvXCs4fqI2P2rA04_7mycrateNtB2_3FooNtB2_5Trait3bar", "<mycrate::Foo as mycrate::Trait>::bar"),
    ("_RINvCs4fqI2P2rA04_7mycrate3foolE", "mycrate::foo::<i32>"),
    ("_RINvC1a1bRShE", "a::b::<&[u8]>"),
    ("_RINvC1a1bQeE", "a::b::<&mut str>"),
    ("_RINvC1a1bAhj10_E", "a::b::<[u8; 16]>"),
    ("_RINvC1a1bTlEE", "a::b::<(i32,)>"),
    ("_RINvC1a1bFUKCEuE", "a::b::<unsafe extern \"C\" fn()>"),
    ("_RINvC1a1bDNtC3std5Errorp4ItemhEL_E", "a::b::<dyn std::Error<Item = u8>>"),
    ("_RINvC1a1bKb1_E", "a::b::<true>"),
    ("_RINvC1a1bKln7b_E", "a::b::<-123>"),
    ("_RINvC1a1bKc76_E", "a::b::<'v'>"),
    ("_RNvC1a3foo.llvm.1234", "a::foo"),
    (
      "_RNqCs4fqI2P2rA04_11utf8_identsu30____7hkackfecea1cbdathfdh9hlq6y",
      "utf8_idents::\u{10e1}\u{10d0}\u{10ed}\u{10db}\u{10d4}\u{10da}\u{10d0}\u{10d3}_"
        + "\u{10d2}\u{10d4}\u{10db}\u{10e0}\u{10d8}\u{10d4}\u{10da}\u{10d8}_\u{10e1}\u{10d0}\u{10d3}\u{10d8}\u{10da}\u{10d8}"
    ),
  ]

  @Test(arguments: names.indices) func aNameIsRead(index: Int) {
    #expect(Self.name(Self.names[index].symbol) == Self.names[index].name)
  }

  @Test func whatIsNoNameHasNone() {
    for symbol in ["", "_R", "_RN", "_RNvC", "_R1C1a", "_RNvC9a", "_RB_", "_RNvB_1a", "_RNvC1a99999999999999999999b"] {
      #expect(Self.name(symbol) == nil, "\(symbol)")
    }
  }

  @Test func aNameThatHoldsItselfEnds() {
    #expect(Self.name("_RINvC1a1bTB6_E") == nil)
    // Each part stands twice in the next: 2^40 of them.
    let bomb = "_RINvC1a1b" + (0..<40).map { "TB\($0)_B\($0)_E" }.joined() + "E"
    #expect(Self.name(bomb).map { $0.utf8.count <= Demangler.nameMax } ?? true)
  }

  @Test(arguments: TestSeed.seeds) func anyBytesEnd(seed: UInt64) throws {
    let letters = Array("NvCMXYIBEKLRQPOFDTASGsu_0123456789abcdxyz".utf8)
    try Fuzz.run("stacks: rust names", seed: seed, cases: 3000) { random, note in
      var symbol = Array(random.element(of: Self.names).symbol.utf8)
      for _ in 0..<random.below(12) {
        let place = 2 + random.below(max(1, symbol.count - 2))
        if random.oneIn(3) {
          symbol.insert(random.element(of: letters), at: min(place, symbol.count))
        } else if place < symbol.count {
          symbol[place] = random.element(of: letters)
        }
      }
      let name = RustName.demangled(symbol)
      #expect((name?.count ?? 0) <= Demangler.nameMax, "\(note)")
    }
  }

  @Test func theLibrariesOfThisMachineKnowTheirNames() {
    let demangler = Demangler.ofThisMachine()
    func name(_ symbol: String) -> String { String(decoding: demangler.name(of: Array(symbol.utf8)), as: UTF8.self) }
    #expect(name("_ZN2fm4ViewIiE4loadERKSt6vectorIiSaIiEE").hasPrefix("fm::View<int>::load("))
    #expect(
      name("_ZN4core3ops8function6FnOnce9call_once17h0123456789abcdefE") == "core::ops::function::FnOnce::call_once")
    #expect(name("_ZN29_$LT$r..V$u20$as$u20$r..T$GT$2go17h0b81481105890fecE") == "<r::V as r::T>::go")
    #expect(name("_ZN29_$LT$r..V$u20$as$u20$r..T$GT$2go17h0b81481105890fecE.llvm.7") == "<r::V as r::T>::go")
    #expect(name("$s5swift6LoaderV4loadyS2iF") == "swift.Loader.load(Swift.Int) -> Swift.Int")
    #expect(name("_RNvCs1234_7mycrate3foo") == "mycrate::foo")
    for symbol in ["main", "_Z", "$s", "_R", "_ZN", "_ZN1", "$s999999999"] { #expect(name(symbol) == symbol) }
  }
}
