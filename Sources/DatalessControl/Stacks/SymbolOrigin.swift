/// Whose a native function is by its name.
enum SymbolOrigin {
  private static let cxxNamespaces: Set<String> = ["std", "__gnu_cxx", "__gnu_debug", "__cxxabiv1"]
  /// Programs in C++ have namespaces of these names, too.
  private static let rustCrates: Set<String> = ["core", "alloc", "proc_macro"]
  private static let swiftModules: Set<String> = [
    "Swift", "Foundation", "FoundationEssentials", "FoundationInternationalization", "FoundationNetworking",
    "Dispatch", "_Concurrency", "_StringProcessing", "Glibc",
  ]

  /// - Parameter symbol: Demangled: `std::vector<int> gallery::load(int)`, `<std::fs::File as std::io::Read>::read`,
  ///   `viewer.load(Swift.String) -> Swift.Int`.
  static func of(_ symbol: String) -> FrameOrigin {
    let (name, hasParameters) = qualifiedName(Array(symbol.utf8))
    let isRuntime =
      name.first == UInt8(ascii: "<")
      ? isImplementationOfRust(name) : isOfTheRuntime(name, isRust: !hasParameters)
    return isRuntime ? .runtime : .program
  }

  /// The name without the type before it and the parameters behind it.
  private static func qualifiedName(_ symbol: [UInt8]) -> (name: ArraySlice<UInt8>, hasParameters: Bool) {
    var (start, depth) = (0, 0)
    for (index, byte) in symbol.enumerated() {
      switch byte {
      case UInt8(ascii: "("):
        // One at the beginning is part of the name: `(anonymous namespace)::load`, `(extension in viewer):Swift.Int`.
        if depth == 0, index > start { return (symbol[start...], true) }
        depth += 1
      case UInt8(ascii: "<"), UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
      case UInt8(ascii: ")"), UInt8(ascii: ">"), UInt8(ascii: "]"), UInt8(ascii: "}"): depth = max(0, depth - 1)
      case UInt8(ascii: " "): if depth == 0 { start = index + 1 }
      default: break
      }
    }
    return (symbol[min(start, symbol.count)...], false)
  }

  private static func isOfTheRuntime(_ name: ArraySlice<UInt8>, isRust: Bool) -> Bool {
    let prefix = Array("(extension in ".utf8)
    let isExtension = name.starts(with: prefix)
    let rest = isExtension ? name.dropFirst(prefix.count) : name
    let first = rest.prefix { byte in
      byte == UInt8(ascii: "_") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte & 0xdf)
    }
    let word = String(decoding: first, as: UTF8.self)
    let after = rest[first.endIndex...]
    if isExtension { return swiftModules.contains(word) }
    if after.starts(with: "::".utf8) { return cxxNamespaces.contains(word) || (isRust && rustCrates.contains(word)) }
    return after.first == UInt8(ascii: ".") && swiftModules.contains(word)
  }

  /// `<Type as Trait>::function`: an implementation is of the crate that has the type or the trait.
  private static func isImplementationOfRust(_ name: ArraySlice<UInt8>) -> Bool {
    var depth = 0
    var type = name.dropFirst()
    var trait: ArraySlice<UInt8>?
    let separator = Array(" as ".utf8)
    for index in name.indices.dropFirst() {
      let byte = name[index]
      if byte == UInt8(ascii: "<") { depth += 1 }
      if byte == UInt8(ascii: ">") {
        if depth == 0 {
          if trait == nil { type = type.prefix(upTo: index) }
          trait = trait?.prefix(upTo: index)
          break
        }
        // `->` of a function's type closes nothing.
        if name[index - 1] != UInt8(ascii: "-") { depth -= 1 }
      }
      if depth == 0, trait == nil, byte == UInt8(ascii: " "), name[index...].starts(with: separator) {
        type = type.prefix(upTo: index)
        trait = name[(index + separator.count)...]
      }
    }
    return isPathOfRust(type) && (trait.map { isPathOfRust($0) } ?? true)
  }

  /// Types without a path, as `[u8]` and `str`, are the language's.
  private static func isPathOfRust(_ text: ArraySlice<UInt8>) -> Bool {
    var path = text
    while true {
      let marks: [String] = ["&", "*", "[", "(", "mut ", "const ", "dyn ", "impl "]
      guard let mark = marks.first(where: { path.starts(with: $0.utf8) }) else { break }
      path = path.dropFirst(mark.utf8.count)
    }
    guard path.prefix(while: { $0 != UInt8(ascii: "<") && $0 != UInt8(ascii: " ") }).contains(UInt8(ascii: ":")) else {
      return true
    }
    return isOfTheRuntime(path, isRust: true)
  }
}
