/// What a file of bash says about itself: where in its first mapping the variables are that it exports.
public struct BashImage: Sendable, Equatable {
  /// In bytes from the address at which the file's first byte is mapped.
  let command: UInt64
  let line: UInt64
  let names: UInt64
  let builtin: UInt64
  let version: UInt64

  private static let symbols = [
    "the_printed_command_except_trap", "line_number", "dollar_vars", "executing_builtin", "dist_version",
  ]
  static let wordCount = 5

  var words: [UInt64] { [command, line, names, builtin, version] }

  /// nil unless there are as many as there are variables.
  init?(words: [UInt64]) {
    guard words.count == Self.wordCount else { return nil }
    (command, line, names, builtin, version) = (words[0], words[1], words[2], words[3], words[4])
  }

  /// nil for a file that is not bash.
  init?<Source: ByteSource>(_ elf: ElfFile<Source>) {
    guard let first = elf.address(ofFileOffset: 0), elf.address(ofSymbol: Self.symbols[0]) != nil else { return nil }
    self.init(
      words: Self.symbols.compactMap { name in
        elf.address(ofSymbol: name).flatMap { $0 >= first ? $0 - first : nil }
      })
  }
}

/// The command at which bash stands (S12).
enum BashShell {
  // LIMIT: bytes of a command and of a script's name.
  static let textMax = 512
  /// Of which the variables' meaning is known.
  static let version = "5.2"

  /// To be called while the thread waits.
  ///
  /// - Parameters:
  ///   - start: Where the file's first byte is mapped.
  static func walk(_ image: BashImage, start: UInt64, memory: some CallerMemory) -> InterpretedWalk {
    func address(_ offset: UInt64) -> UInt64 { start &+ offset }
    func text(at variable: UInt64) -> [UInt8]? {
      memory.word(UInt64.self, at: variable).flatMap { memory.text(at: $0, limit: textMax) }
    }
    guard text(at: address(image.version))?.elementsEqual(version.utf8) == true else {
      return .unknown(language: "bash")
    }
    guard let command = text(at: address(image.command)), !command.isEmpty,
      let line = memory.word(Int32.self, at: address(image.line)),
      let builtin = memory.word(Int32.self, at: address(image.builtin))
    else { return .bash(InterpretedFunction(function: [], file: [], line: nil)) }
    // Of a command in a function or a compound the line is another's, but for builtins.
    return .bash(
      InterpretedFunction(
        function: command, file: text(at: address(image.names)) ?? [], line: builtin > 0 && line > 0 ? Int(line) : nil))
  }

  /// Where the innermost function of bash tells that it executes a command, and does not read the next one of its
  /// script.
  private static let reads = ["read_command", "parse_command", "yyparse", "reader_loop", "_evalfile"]
  private static let executes = [
    "execute_command_internal", "execute_command", "execute_shell_function", "do_redirections", "source_builtin",
  ]

  static func stack(_ command: InterpretedFunction, _ native: NamedStack) -> InterpretedStack {
    let innermost = native.frames.first { frame in
      (reads + executes).contains { frame.symbol.elementsEqual($0.utf8) }
    }
    let isExecuting = innermost.map { frame in executes.contains { frame.symbol.elementsEqual($0.utf8) } } ?? false
    // While it reads its script, the command that it has noted is the one before.
    return InterpretedStack(
      language: Array("bash".utf8), isReadable: true, isComplete: false,
      frames: isExecuting && !command.function.isEmpty ? [command] : [])
  }
}

extension CallerMemory {
  /// The bytes up to the next zero, at most `limit` of them; nil when not even one can be read.
  func text(at address: UInt64, limit: Int) -> [UInt8]? {
    guard address != 0 else { return nil }
    var text: [UInt8] = []
    while text.count < limit {
      let (place, overflow) = address.addingReportingOverflow(UInt64(text.count))
      // Not beyond a page, behind which nothing may be.
      let count = min(limit - text.count, 4096 - Int(place & 4095), 64)
      guard !overflow, let part = bytes(at: place, count: count) else { return text.isEmpty ? nil : text }
      if let end = part.firstIndex(of: 0) { return text + part[..<end] }
      text += part
    }
    return text
  }
}
