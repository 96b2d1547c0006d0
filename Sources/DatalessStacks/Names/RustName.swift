/// Names of Rust's mangling v0 (RFC 2603): `_RNvCs1234_4fish4main` is `fish::main`.
///
/// Hashes of crates are left out. Bounded: a back reference can name what holds it, so steps, depth and length have
/// limits.
enum RustName {
  /// nil for what is no such name, or has a part that is not known here.
  static func demangled(_ symbol: [UInt8]) -> [UInt8]? {
    guard symbol.starts(with: "_R".utf8) else { return nil }
    // What LLVM and vendors put behind it.
    let name = symbol.dropFirst(2).prefix { $0 != UInt8(ascii: ".") && $0 != UInt8(ascii: "$") }
    // A number here would be the version of another mangling.
    guard let first = name.first, !RustText.isDigit(first) else { return nil }
    var parser = RustParser(Array(name))
    do throws(RustText.Malformed) {
      try parser.path(isValue: true)
    } catch { return nil }
    return parser.output
  }
}

/// Reads a name of v0 and writes what it says.
struct RustParser {
  // LIMIT: parts that are looked at, how deep they lie, and bytes that are written.
  static let stepsMax = 20_000
  static let depthMax = 200

  private(set) var output: [UInt8] = []
  private var text: RustText
  private var steps = 0
  private var depth = 0
  /// Whether nothing is written: the place of an impl block is read over.
  private var isSilent = false
  private var boundLifetimes: UInt64 = 0

  init(_ name: [UInt8]) { text = RustText(name) }

  private mutating func write(_ words: String) throws(RustText.Malformed) { try write(Array(words.utf8)) }

  private mutating func write(_ words: [UInt8]) throws(RustText.Malformed) {
    guard !isSilent else { return }
    guard output.count + words.count <= Demangler.nameMax else { throw RustText.Malformed() }
    output += words
  }

  private mutating func enter() throws(RustText.Malformed) {
    steps += 1
    depth += 1
    guard steps <= Self.stepsMax, depth <= Self.depthMax else { throw RustText.Malformed() }
  }

  /// Reads what stands at an earlier place, then goes on here.
  private mutating func backReference(
    _ body: (inout RustParser) throws(RustText.Malformed) -> Void
  ) throws(RustText.Malformed) {
    // The letter B has been read.
    let limit = text.position - 1
    let target = try text.base62()
    guard target < UInt64(limit) else { throw RustText.Malformed() }
    // What is not written need not be followed.
    guard !isSilent else { return }
    let here = text.position
    text.position = Int(target)
    try body(&self)
    text.position = here
  }

  /// - Parameter isValue: Whether generic arguments follow `::`, as in an expression.
  mutating func path(isValue: Bool) throws(RustText.Malformed) {
    try enter()
    defer { depth -= 1 }
    switch try text.next() {
    case UInt8(ascii: "C"): try write(try text.identifier().name)
    case UInt8(ascii: "M"):
      try implPath()
      try bracketed(withTrait: false)
    case UInt8(ascii: "X"):
      try implPath()
      try bracketed(withTrait: true)
    case UInt8(ascii: "Y"): try bracketed(withTrait: true)
    case UInt8(ascii: "N"): try nested(isValue: isValue)
    case UInt8(ascii: "I"):
      try path(isValue: isValue)
      try write(isValue ? "::<" : "<")
      try list { parser throws(RustText.Malformed) in try parser.genericArgument() }
      try write(">")
    case UInt8(ascii: "B"):
      try backReference { parser throws(RustText.Malformed) in try parser.path(isValue: isValue) }
    default: throw RustText.Malformed()
    }
  }

  private mutating func implPath() throws(RustText.Malformed) {
    _ = try text.disambiguator()
    let wasSilent = isSilent
    isSilent = true
    defer { isSilent = wasSilent }
    try path(isValue: false)
  }

  private mutating func bracketed(withTrait: Bool) throws(RustText.Malformed) {
    try write("<")
    try type()
    if withTrait {
      try write(" as ")
      try path(isValue: false)
    }
    try write(">")
  }

  private mutating func nested(isValue: Bool) throws(RustText.Malformed) {
    let space = try text.next()
    try path(isValue: isValue)
    let (name, number) = try text.identifier()
    switch space {
    case UInt8(ascii: "a")...UInt8(ascii: "z"):
      if !name.isEmpty { try write(Array("::".utf8) + name) }
    case UInt8(ascii: "A")...UInt8(ascii: "Z"):
      let kind =
        switch space {
        case UInt8(ascii: "C"): "closure"
        case UInt8(ascii: "S"): "shim"
        default: String(decoding: [space], as: UTF8.self)
        }
      try write("::{\(kind)")
      if !name.isEmpty { try write(Array(":".utf8) + name) }
      try write("#\(number)}")
    default: throw RustText.Malformed()
    }
  }

  /// Elements up to E, with commas between them.
  @discardableResult
  private mutating func list(
    separator: String = ", ", _ element: (inout RustParser) throws(RustText.Malformed) -> Void
  ) throws(RustText.Malformed) -> Int {
    var count = 0
    while !text.take("E") {
      if count > 0 { try write(separator) }
      try element(&self)
      count += 1
    }
    return count
  }

  private mutating func genericArgument() throws(RustText.Malformed) {
    if text.take("L") { return try lifetime(try text.base62()) }
    if text.take("K") { return try constant() }
    try type()
  }

  private mutating func lifetime(_ index: UInt64) throws(RustText.Malformed) {
    guard index > 0 else { return try write("'_") }
    guard index <= boundLifetimes else { throw RustText.Malformed() }
    let number = boundLifetimes - index
    try write(number < 26 ? "'" + String(Unicode.Scalar(UInt8(97 + number))) : "'_\(number)")
  }

  /// `for<'a>`, for what `body` writes.
  private mutating func binder(
    _ body: (inout RustParser) throws(RustText.Malformed) -> Void
  ) throws(RustText.Malformed) {
    guard text.take("G") else { return try body(&self) }
    let count = try text.base62()
    // LIMIT: lifetimes of one binder.
    guard count < 100 else { throw RustText.Malformed() }
    let before = boundLifetimes
    defer { boundLifetimes = before }
    try write("for<")
    for index in 0...count {
      boundLifetimes += 1
      if index > 0 { try write(", ") }
      try lifetime(1)
    }
    try write("> ")
    try body(&self)
  }

  private static let basicTypes: [UInt8: String] = [
    UInt8(ascii: "a"): "i8", UInt8(ascii: "b"): "bool", UInt8(ascii: "c"): "char", UInt8(ascii: "d"): "f64",
    UInt8(ascii: "e"): "str", UInt8(ascii: "f"): "f32", UInt8(ascii: "h"): "u8", UInt8(ascii: "i"): "isize",
    UInt8(ascii: "j"): "usize", UInt8(ascii: "l"): "i32", UInt8(ascii: "m"): "u32", UInt8(ascii: "n"): "i128",
    UInt8(ascii: "o"): "u128", UInt8(ascii: "p"): "_", UInt8(ascii: "s"): "i16", UInt8(ascii: "t"): "u16",
    UInt8(ascii: "u"): "()", UInt8(ascii: "v"): "...", UInt8(ascii: "x"): "i64", UInt8(ascii: "y"): "u64",
    UInt8(ascii: "z"): "!",
  ]

  private mutating func type() throws(RustText.Malformed) {
    try enter()
    defer { depth -= 1 }
    let tag = try text.next()
    if let basic = Self.basicTypes[tag] { return try write(basic) }
    switch tag {
    case UInt8(ascii: "A"), UInt8(ascii: "S"):
      try write("[")
      try type()
      if tag == UInt8(ascii: "A") {
        try write("; ")
        try constant()
      }
      try write("]")
    case UInt8(ascii: "T"):
      try write("(")
      let count = try list { parser throws(RustText.Malformed) in try parser.type() }
      try write(count == 1 ? ",)" : ")")
    case UInt8(ascii: "R"), UInt8(ascii: "Q"):
      try write("&")
      if text.take("L") {
        let index = try text.base62()
        if index > 0 {
          try lifetime(index)
          try write(" ")
        }
      }
      if tag == UInt8(ascii: "Q") { try write("mut ") }
      try type()
    case UInt8(ascii: "P"), UInt8(ascii: "O"):
      try write(tag == UInt8(ascii: "P") ? "*const " : "*mut ")
      try type()
    case UInt8(ascii: "F"): try binder { parser throws(RustText.Malformed) in try parser.signature() }
    case UInt8(ascii: "D"): try dynamic()
    case UInt8(ascii: "B"):
      try backReference { parser throws(RustText.Malformed) in try parser.type() }
    default:
      text.position -= 1
      try path(isValue: false)
    }
  }

  private mutating func signature() throws(RustText.Malformed) {
    if text.take("U") { try write("unsafe ") }
    if text.take("K") {
      try write("extern \"")
      let name = text.take("C") ? Array("C".utf8) : try text.plainIdentifier()
      try write(name.map { $0 == UInt8(ascii: "_") ? UInt8(ascii: "-") : $0 })
      try write("\" ")
    }
    try write("fn(")
    try list { parser throws(RustText.Malformed) in try parser.type() }
    try write(")")
    if text.take("u") { return }
    try write(" -> ")
    try type()
  }

  private mutating func dynamic() throws(RustText.Malformed) {
    try write("dyn ")
    try binder { parser throws(RustText.Malformed) in
      try parser.list(separator: " + ") { parser throws(RustText.Malformed) in try parser.dynamicTrait() }
    }
    guard text.take("L") else { throw RustText.Malformed() }
    let index = try text.base62()
    if index > 0 {
      try write(" + ")
      try lifetime(index)
    }
  }

  private mutating func dynamicTrait() throws(RustText.Malformed) {
    try path(isValue: false)
    var isFirst = true
    while text.take("p") {
      try write(isFirst ? "<" : ", ")
      isFirst = false
      try write(try text.plainIdentifier() + Array(" = ".utf8))
      try type()
    }
    if !isFirst { try write(">") }
  }

  private mutating func constant() throws(RustText.Malformed) {
    try enter()
    defer { depth -= 1 }
    let tag = try text.next()
    switch tag {
    case UInt8(ascii: "p"): try write("_")
    case UInt8(ascii: "B"):
      try backReference { parser throws(RustText.Malformed) in try parser.constant() }
    case UInt8(ascii: "b"):
      let value = try text.hexadecimal()
      guard value == "0" || value == "1" else { throw RustText.Malformed() }
      try write(value == "1" ? "true" : "false")
    case UInt8(ascii: "c"):
      guard let scalar = UInt32(try text.hexadecimal(), radix: 16).flatMap({ Unicode.Scalar($0) }) else {
        throw RustText.Malformed()
      }
      try write("'" + scalar.escaped(asASCII: false) + "'")
    default:
      guard "aslxnihtmyoj".utf8.contains(tag) else { throw RustText.Malformed() }
      if text.take("n") { try write("-") }
      let digits = try text.hexadecimal()
      try write(UInt64(digits, radix: 16).map { String($0) } ?? "0x" + digits)
    }
  }
}
