/// What a file of bash says about itself: where in its first mapping the variables are that it exports.
public struct BashImage: Sendable, Equatable {
  /// In bytes from the address at which the file's first byte is mapped.
  let command: UInt64
  let line: UInt64
  let version: UInt64
  let trap: UInt64
  let globals: UInt64
  let name: UInt64
  /// Where the calls end that expand the words of a simple command: addresses as the file has them.
  let expansions: [UInt64]

  private static let symbols = [
    "the_printed_command_except_trap", "line_number", "dist_version", "running_trap", "global_variables",
    "this_command_name",
  ]
  // LIMIT: calls that are told of. Debian's bash has two.
  static let expansionsMax = 4
  // LIMIT: bytes of code that are searched for them. Debian's bash has 740,000.
  private static let codeMax: UInt64 = 8 << 20
  static var wordCount: Int { symbols.count + expansionsMax }

  var words: [UInt64] {
    [command, line, version, trap, globals, name] + expansions
      + Array(repeating: 0, count: Self.expansionsMax - expansions.count)
  }

  /// nil unless there are as many as there are variables and calls.
  init?(words: [UInt64]) {
    guard words.count == Self.wordCount else { return nil }
    (command, line, version) = (words[0], words[1], words[2])
    (trap, globals, name) = (words[3], words[4], words[5])
    expansions = words.dropFirst(Self.symbols.count).filter { $0 != 0 }
  }

  /// nil for a file that is not bash.
  init?<Source: ByteSource>(_ elf: ElfFile<Source>) {
    guard let first = elf.address(ofFileOffset: 0), elf.address(ofSymbol: Self.symbols[0]) != nil else { return nil }
    let variables = Self.symbols.compactMap { name in
      elf.address(ofSymbol: name).flatMap { $0 >= first ? $0 - first : nil }
    }
    guard variables.count == Self.symbols.count else { return nil }
    let calls = Self.expansions(elf)
    self.init(words: variables + calls + Array(repeating: 0, count: Self.expansionsMax - calls.count))
  }

  /// `expand_words` jumps on to a function without a name, which those of `for` go through, too: only its caller's
  /// code tells which of them it was.
  private static func expansions<Source: ByteSource>(_ elf: ElfFile<Source>) -> [UInt64] {
    guard let target = elf.address(ofSymbol: "expand_words"), let section = elf.first(named: ".text"),
      section.size <= codeMax, let code = elf.content(section)
    else { return [] }
    var calls: [UInt64] = []
    for place in code.indices where code[place] == 0xe8 {
      guard let distance = code.word(Int32.self, at: place + 1) else { break }
      let end = section.address &+ UInt64(place) &+ 5
      guard end &+ UInt64(bitPattern: Int64(distance)) == target else { continue }
      calls.append(end)
      if calls.count == expansionsMax { break }
    }
    return calls
  }
}
