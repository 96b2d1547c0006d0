import Testing

@testable import DatalessStacks

@Suite struct MangledNameTests {
  private static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

  @Test func whoseManglingItIs() {
    for (symbol, mangling) in [
      ("main", .none), ("_Z4loadPKc", .cxx), ("_ZN4core3ptr13drop_in_place17h0123456789abcdefE", .rustLegacy),
      ("_ZN4core3ptr13drop_in_place17h0123456789abcdefE.llvm.123", .rustLegacy),
      ("_ZN1a4b..c17h0123456789abcdefE", .rustLegacy),
      ("_ZN1a17h0123456789abcdefEv.x", .cxx), ("_RNvCs1234_7mycrate3foo", .rust),
      ("$s4main4loadyyF", .swift), ("_$s4main4loadyyF", .swift), ("_Reader", .none), ("", .none), ("_Z", .cxx),
    ] as [(String, Mangling)] { #expect(Mangling(Self.bytes(symbol)) == mangling, "\(symbol)") }
  }

  @Test func theOlderNamesOfRust() {
    for (name, cleaned) in [
      ("core::ptr::drop_in_place::h0123456789abcdef", "core::ptr::drop_in_place"),
      (
        "_$LT$std..fs..File$u20$as$u20$std..io..Read$GT$::read::h0123456789abcdef",
        "<std::fs::File as std::io::Read>::read"
      ),
      ("std::rt::lang_start::_$u7b$$u7b$closure$u7d$$u7d$::h0123456789abcdef", "std::rt::lang_start::{{closure}}"),
      ("a::h012", "a::h012"), ("$LT", "$LT"), ("$u7fffffff$", "$u7fffffff$"), ("$u1b$x", "$u1b$x"), ("", ""),
    ] { #expect(RustLegacyName.cleaned(Self.bytes(name)) == Self.bytes(cleaned), "\(name)") }
  }

  @Test func namesHaveABound() {
    let bomb = Demangler(cxx: { _ in [UInt8](repeating: 65, count: 1 << 20) })
    #expect(bomb.name(of: Self.bytes("_Z1av")).count == Demangler.nameMax)
    // A symbol of a megabyte is not demangled.
    let long = Self.bytes("_Z") + [UInt8](repeating: 66, count: 1 << 20)
    #expect(bomb.name(of: long).count == Demangler.nameMax)
    #expect(bomb.name(of: long).last == 66)
    #expect(Demangler().name(of: Self.bytes("_Z1av")) == Self.bytes("_Z1av"))
  }
}
