internal import CDw
internal import Glibc

extension Demangler {
  /// By the libraries of this machine: C++ by libstdc++, Swift by its runtime, Rust's newer names by `RustName`.
  ///
  /// Loads libraries: before the process is shut off.
  public static func ofThisMachine() -> Demangler {
    cdw_load_demanglers()
    return Demangler(
      cxx: { text($0) { cdw_demangle_cxx($0) } }, rust: { RustName.demangled($0) },
      swift: { text($0) { cdw_demangle_swift($0) } })
  }

  private static func text(
    _ symbol: [UInt8], _ demangle: (UnsafePointer<CChar>?) -> UnsafeMutablePointer<CChar>?
  ) -> [UInt8]? {
    guard !symbol.contains(0) else { return nil }
    let text = (symbol + [0]).withUnsafeBufferPointer { bytes in
      bytes.withMemoryRebound(to: CChar.self) { demangle($0.baseAddress) }
    }
    guard let text else { return nil }
    defer { free(text) }
    return UnsafeBufferPointer(start: text, count: strnlen(text, nameMax)).map { UInt8(bitPattern: $0) }
  }
}
