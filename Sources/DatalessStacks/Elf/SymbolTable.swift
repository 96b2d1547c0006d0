/// The functions and variables of a file, by address and by name.
///
/// Made once for each build id. Addresses are those of the file.
public struct SymbolTable: Sendable {
  public struct Symbol: Sendable, Equatable {
    public let address: UInt64
    /// 0 where the file does not say.
    public let size: UInt64
    public let name: [UInt8]
  }

  // LIMIT: symbols of one file. A browser's debug build has some 4 million.
  static let countMax = 8 << 20
  // LIMIT: bytes of a name; what is longer is cut. C++ has names of several kilobytes.
  static let nameMax = 64 << 10

  private struct Entry {
    let address: UInt64
    let size: UInt64
    let name: UInt32
    /// Of several symbols at one address: which name is shown. Higher is better.
    let rank: UInt8
  }

  /// Functions, ascending by address.
  private let functions: [Entry]
  private let strings: [UInt8]

  /// - Returns: nil when there are no symbols, or the tables are cut or too large.
  init?(symbols: [UInt8], strings: [UInt8]) {
    let entrySize = 24
    let count = symbols.count / entrySize
    guard count > 0, count <= Self.countMax else { return nil }
    self.strings = strings
    functions = (0..<count)
      .compactMap { Self.function(symbols, $0 * entrySize) }
      .sorted { ($0.address, $0.rank) < ($1.address, $1.rank) }
    guard !functions.isEmpty else { return nil }
  }

  private static func function(_ symbols: [UInt8], _ start: Int) -> Entry? {
    let (function, indirectFunction): (UInt8, UInt8) = (2, 10)
    guard let name = symbols.word(UInt32.self, at: start), name != 0,
      let info = symbols.word(UInt8.self, at: start + 4), let section = symbols.word(UInt16.self, at: start + 6),
      let address = symbols.word(UInt64.self, at: start + 8), let size = symbols.word(UInt64.self, at: start + 16),
      // Undefined ones are other files'.
      section != 0, info & 15 == function || info & 15 == indirectFunction
    else { return nil }
    // Global before weak before local; one with a size before one without.
    let binding: UInt8 = info >> 4 == 1 ? 2 : info >> 4 == 2 ? 1 : 0
    return Entry(address: address, size: size, name: name, rank: binding * 2 + (size > 0 ? 1 : 0))
  }

  /// The function in which `address` lies: one whose size says so, or which is the last before it and has no size.
  public func function(at address: UInt64) -> Symbol? {
    var (low, high) = (0, functions.count)
    while low < high {
      let middle = (low + high) / 2
      if functions[middle].address <= address { low = middle + 1 } else { high = middle }
    }
    // LIMIT: symbols that begin below the address and end below it, too, before one that holds it.
    for entry in functions[max(0, low - 16)..<low].reversed() {
      guard address - entry.address < entry.size || entry.size == 0 else { continue }
      guard let name = name(entry.name) else { continue }
      return Symbol(address: entry.address, size: entry.size, name: name)
    }
    return nil
  }

  /// Full tables of some linkers have `read@GLIBC_2.2.5` and `read@@GLIBC_2.2.5` for versions of one function. No
  /// language puts an `@` into a name that could be taken for it.
  static func withoutVersion(_ name: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    guard let mark = name.firstIndex(of: UInt8(ascii: "@")), mark > name.startIndex else { return name }
    return name[..<mark]
  }

  private func name(_ offset: UInt32) -> [UInt8]? {
    guard let start = Int(exactly: offset), start < strings.count else { return nil }
    let part = strings[start...].prefix(Self.nameMax)
    let name = part.prefix { $0 != 0 }
    let plain = Self.withoutVersion(name)
    return plain.isEmpty ? nil : Array(plain)
  }
}

extension ElfFile {
  /// Functions by the full table, which stripping removes.
  public var fullFunctions: SymbolTable? { functions(SectionType.symbols) }

  /// Functions by what the file exports.
  public var exportedFunctions: SymbolTable? { functions(SectionType.dynamicSymbols) }

  public var functions: SymbolTable? { fullFunctions ?? exportedFunctions }

  private func functions(_ type: UInt32) -> SymbolTable? {
    symbolTables(type).lazy.compactMap { SymbolTable(symbols: $0.symbols, strings: $0.strings) }.first
  }

  /// The address of a symbol of any kind that the file defines: exported ones first.
  public func address(ofSymbol name: String) -> UInt64? {
    let wanted = Array(name.utf8)
    for type in [SectionType.dynamicSymbols, SectionType.symbols] {
      for table in symbolTables(type) {
        if let found = Self.address(of: wanted, in: table.symbols, table.strings) { return found }
      }
    }
    return nil
  }

  /// The addresses of those of the symbols that the file exports, of any kind: one pass for all.
  func addresses(ofSymbols wanted: Set<[UInt8]>) -> [[UInt8]: UInt64] {
    let (first, longest) = (Set(wanted.compactMap(\.first)), wanted.lazy.map(\.count).max() ?? 0)
    var found: [[UInt8]: UInt64] = [:]
    for table in symbolTables(SectionType.dynamicSymbols) {
      for start in stride(from: 0, to: table.symbols.count - 23, by: 24) {
        guard let offset = table.symbols.word(UInt32.self, at: start), Int(offset) < table.strings.count,
          first.contains(table.strings[Int(offset)]), table.symbols.word(UInt16.self, at: start + 6) != 0,
          let name = table.strings.text(at: Int(offset), limit: longest + 1), wanted.contains(name)
        else { continue }
        found[name] = found[name] ?? table.symbols.word(UInt64.self, at: start + 8)
      }
    }
    return found
  }

  private static func address(of wanted: [UInt8], in symbols: [UInt8], _ strings: [UInt8]) -> UInt64? {
    for start in stride(from: 0, to: symbols.count - 23, by: 24) {
      guard let offset = symbols.word(UInt32.self, at: start), symbols.word(UInt16.self, at: start + 6) != 0,
        let name = strings.part(at: UInt64(offset), count: UInt64(wanted.count + 1)), name.last == 0,
        name.dropLast().elementsEqual(wanted)
      else { continue }
      return symbols.word(UInt64.self, at: start + 8)
    }
    return nil
  }

  private func symbolTables(_ type: UInt32) -> [(symbols: [UInt8], strings: [UInt8])] {
    sections.compactMap { section in
      guard section.type == type, section.entrySize == 24, sections.indices.contains(Int(section.link)),
        section.size / 24 <= UInt64(SymbolTable.countMax), let symbols = content(section),
        let strings = content(sections[Int(section.link)])
      else { return nil }
      return (symbols, strings)
    }
  }
}
