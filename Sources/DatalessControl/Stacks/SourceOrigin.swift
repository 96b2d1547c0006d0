/// Whose a native function is by the file that it was compiled from.
enum SourceOrigin {
  /// Crates that come with the compiler of Rust.
  private static let rustCrates: Set<String> = [
    "std", "core", "alloc", "proc_macro", "test", "panic_unwind", "panic_abort", "unwind", "backtrace",
    "compiler-builtins", "portable-simd", "stdarch",
  ]

  /// First elements of the import paths of Go's standard library.
  private static let goPackages: Set<String> = [
    "archive", "bufio", "bytes", "cmd", "cmp", "compress", "container", "context", "crypto", "database", "debug",
    "embed", "encoding", "errors", "expvar", "flag", "fmt", "go", "hash", "html", "image", "index", "internal", "io",
    "iter", "log", "maps", "math", "mime", "net", "os", "path", "plugin", "reflect", "regexp", "runtime", "slices",
    "sort", "strconv", "strings", "structs", "sync", "syscall", "testing", "text", "time", "unicode", "unique",
    "unsafe", "vendor", "weak",
  ]

  /// - Parameter symbol: The function's name, demangled.
  /// - Returns: nil where the file does not tell.
  static func of(_ file: [UInt8], symbol: String) -> FrameOrigin? {
    let parts = SourceParts(file)
    if let origin = go(parts, symbol: symbol) { return origin }
    if isOfTheSystem(parts) || isOfRust(parts) { return .runtime }
    if isOfAPackage(parts) { return .package }
    // The names of Rust's functions are those of the outermost of several that became one; the file is the innermost's.
    return parts.isAbsolute && parts.hasExtension("rs") ? .program : nil
  }

  private static func isOfTheSystem(_ parts: SourceParts) -> Bool {
    if parts.has("include", "c++") || parts.has("libstdc++-v3") { return true }
    if parts.isAbsolute {
      return parts.begins("usr", "include") || parts.begins("usr", "lib") || parts.begins("usr", "lib64")
        || parts.begins("lib")
    }
    // The C library of a program that has it inside.
    return parts.begins("sysdeps") || parts.begins("csu") || parts.begins("nptl")
  }

  private static func isOfRust(_ parts: SourceParts) -> Bool {
    if parts.isAbsolute { return parts.begins("rustc") || parts.has("rustlib", "src") }
    return parts.begins("library") && parts.all.count > 2
      && rustCrates.contains(String(decoding: parts.all[1], as: UTF8.self))
  }

  private static func isOfAPackage(_ parts: SourceParts) -> Bool {
    for home in [".cargo", "cargo"] where parts.has(home, "registry") || parts.has(home, "git") { return true }
    return parts.has(".build", "checkouts") || (parts.isAbsolute && parts.begins("usr", "local", "include"))
  }

  // MARK: - Go

  /// - Returns: nil for what is not written in Go, nor in assembler for it.
  private static func go(_ parts: SourceParts, symbol: String) -> FrameOrigin? {
    guard parts.hasExtension("go") || (parts.hasExtension("s") && symbol.contains(".")) else { return nil }
    let element = goElement(symbol)
    // A module may be called as a package of the library is; that one lies below `src` of Go's root, or has no root.
    if goPackages.contains(element), !parts.isAbsolute || parts.has("src") { return .runtime }
    guard parts.hasExtension("go") else { return nil }
    let isOfAVersion = parts.all.contains { $0.contains(UInt8(ascii: "@")) }
    return parts.has("pkg", "mod") || isOfAVersion || parts.has("vendor") ? .package : .program
  }

  /// The first element of the import path: `internal` of `internal/poll.(*FD).Read`, `os` of `os.ReadFile`.
  private static func goElement(_ symbol: String) -> String {
    let name = symbol.utf8.prefix { $0 != UInt8(ascii: "[") }
    let path = name.prefix { $0 != UInt8(ascii: "/") }
    // Without a slash, a dot ends the path; before one, it belongs to a domain.
    guard path.endIndex == name.endIndex else { return String(decoding: path, as: UTF8.self) }
    return String(decoding: name.prefix { $0 != UInt8(ascii: ".") }, as: UTF8.self)
  }
}
