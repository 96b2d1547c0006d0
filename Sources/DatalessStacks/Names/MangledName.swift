/// How a compiler has written a function's name into a symbol.
public enum Mangling: Sendable, Equatable {
  case none
  case cxx
  /// Rust's older one: a C++ name whose last part is a hash.
  case rustLegacy
  case rust
  case swift

  public init(_ symbol: [UInt8]) {
    if symbol.starts(with: "_R".utf8), symbol.count > 2, (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(symbol[2]) {
      self = .rust
    } else if ["$s", "$S", "_$s", "$e", "_T0"].contains(where: { symbol.starts(with: $0.utf8) }) {
      self = .swift
    } else if symbol.starts(with: "_Z".utf8) {
      self = Self.lengthOfRustLegacy(symbol) != nil ? .rustLegacy : .cxx
    } else {
      self = .none
    }
  }

  /// `17h`, 16 hexadecimal digits, `E` at the end of `_ZN`; what LLVM puts behind it begins with a dot. Dots are in the
  /// names of parts, too, where `::` stands in them.
  ///
  /// - Returns: How many bytes it has without that; nil for what is none.
  fileprivate static func lengthOfRustLegacy(_ symbol: [UInt8]) -> Int? {
    guard symbol.starts(with: "_ZN".utf8) else { return nil }
    return symbol.indices.dropFirst(22).first { end in
      guard symbol[end] == UInt8(ascii: "E"), end + 1 == symbol.count || symbol[end + 1] == UInt8(ascii: ".") else {
        return false
      }
      let hash = symbol[(end - 19)..<end]
      return hash.starts(with: "17h".utf8) && Hexadecimal.number(hash.dropFirst(3)) != nil
    }.map { $0 + 1 }
  }
}

/// Makes names of symbols that a developer wrote: by libraries that the symbol process has loaded before it was shut
/// off.
public struct Demangler: Sendable {
  /// Returns nil for what it does not know.
  public typealias Hook = @Sendable (_ symbol: [UInt8]) -> [UInt8]?

  private let cxx: Hook?
  private let rust: Hook?
  private let swift: Hook?

  // LIMIT: bytes of a symbol that is demangled, and of a name: a few hundred bytes of C++ can stand for gigabytes.
  static let symbolMax = 8 << 10
  static let nameMax = 16 << 10

  public init(cxx: Hook? = nil, rust: Hook? = nil, swift: Hook? = nil) {
    self.cxx = cxx
    self.rust = rust
    self.swift = swift
  }

  /// The symbol itself where no hook knows better.
  public func name(of symbol: [UInt8]) -> [UInt8] {
    guard symbol.count <= Self.symbolMax else { return Array(symbol.prefix(Self.nameMax)) }
    let name: [UInt8]? =
      switch Mangling(symbol) {
      case .none: nil
      case .cxx: cxx?(symbol)
      case .rustLegacy:
        cxx?(Array(symbol.prefix(Mangling.lengthOfRustLegacy(symbol) ?? symbol.count))).map(RustLegacyName.cleaned)
      case .rust: rust?(symbol)
      case .swift: swift?(symbol)
      }
    return Array((name ?? symbol).prefix(Self.nameMax))
  }
}

/// What a C++ demangler leaves of Rust's older mangling (S7).
enum RustLegacyName {
  private static let escapes: [(escape: String, text: String)] = [
    ("$LT$", "<"), ("$GT$", ">"), ("$LP$", "("), ("$RP$", ")"), ("$RF$", "&"), ("$BP$", "*"), ("$C$", ","),
    ("$SP$", "@"),
  ]

  /// - Parameter name: As `core::ops::function::FnOnce::call_once$u7b$...::h0123456789abcdef`.
  static func cleaned(_ name: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    var rest = withoutHash(name)[...]
    while let byte = rest.first {
      if byte == UInt8(ascii: "$"), let (text, count) = escape(rest) {
        result += text
        rest = rest.dropFirst(count)
      } else if rest.starts(with: "..".utf8) {
        result += "::".utf8
        rest = rest.dropFirst(2)
      } else if byte == UInt8(ascii: "_"), rest.dropFirst().first == UInt8(ascii: "$"), isStart(result) {
        // Put before a part that would begin with an escape.
        rest = rest.dropFirst()
      } else {
        result.append(byte)
        rest = rest.dropFirst()
      }
    }
    return result
  }

  private static func isStart(_ result: [UInt8]) -> Bool { result.isEmpty || result.last == UInt8(ascii: ":") }

  private static func withoutHash(_ name: [UInt8]) -> [UInt8] {
    let hash = name.suffix(19)
    guard hash.starts(with: "::h".utf8), Hexadecimal.number(hash.dropFirst(3)) != nil else { return name }
    return name.dropLast(19)
  }

  private static func escape(_ rest: ArraySlice<UInt8>) -> (text: [UInt8], count: Int)? {
    for known in escapes where rest.starts(with: known.escape.utf8) {
      return (Array(known.text.utf8), known.escape.utf8.count)
    }
    // $u7b$
    guard rest.starts(with: "$u".utf8), let end = rest.dropFirst(2).prefix(7).firstIndex(of: UInt8(ascii: "$")),
      let value = Hexadecimal.number(rest[(rest.startIndex + 2)..<end]).flatMap({ UInt32(exactly: $0) }),
      let scalar = Unicode.Scalar(value), value >= 32
    else { return nil }
    return (Array(String(Character(scalar)).utf8), end - rest.startIndex + 1)
  }
}
