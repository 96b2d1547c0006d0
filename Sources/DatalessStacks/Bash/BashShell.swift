/// What a bash has noted of its last command, which need not be the one at which it stands.
struct BashCommand: Sendable, Equatable {
  /// As the script has it; empty where none is known.
  var text: [UInt8] = []
  /// Whose code is executed; empty where it comes from no file.
  var file: [UInt8] = []
  var line: Int?
  /// Whether the name is known of the simple command that is executed: its words have been expanded.
  var hasName = false
  /// Whether the noted command is that one, and not that which called the function or the code around it.
  var isUnderWay = false
  /// See `BashImage`.
  var expansions: [UInt64] = []
}

/// The command at which bash stands (S12).
enum BashShell {
  // LIMIT: bytes of a command.
  static let textMax = 512
  /// Of which the variables' meaning is known.
  static let version = "5.2"
  /// Commands that execute others, which begin with the name still theirs; and names of what is no simple command.
  private static let outer = [".", "source", "eval", "command", "builtin", "[[", "(("]
  /// What BASH_SOURCE has for functions that come from no file.
  private static let noFiles = ["", "main", "environment"]

  /// To be called while the thread waits.
  ///
  /// - Parameters:
  ///   - start: Where the file's first byte is mapped.
  ///   - resolve: Gives the whole path of a file, where it is known. Default: it is not.
  static func walk(
    _ image: BashImage, start: UInt64, memory: some CallerMemory, resolve: ([UInt8]) -> [UInt8] = { $0 }
  ) -> InterpretedWalk {
    func address(_ offset: UInt64) -> UInt64 { start &+ offset }
    func text(at variable: UInt64) -> [UInt8]? {
      memory.word(UInt64.self, at: variable).flatMap { memory.text(at: $0, limit: textMax) }
    }
    guard text(at: address(image.version))?.elementsEqual(version.utf8) == true else {
      return .unknown(language: "bash")
    }
    // In a trap commands are not noted.
    guard memory.word(Int32.self, at: address(image.trap)) == 0, let noted = text(at: address(image.command)),
      let line = memory.word(Int32.self, at: address(image.line))
    else { return .bash(BashCommand()) }
    var command = BashCommand(text: noted, expansions: image.expansions)
    let arrays = BashArrays(globals: address(image.globals), memory: memory)
    if let file = arrays?.first(of: "BASH_SOURCE"), !noFiles.contains(where: { file.elementsEqual($0.utf8) }) {
      command.file = resolve(file)
      command.line = line > 0 ? Int(line) : nil
    }
    if let name = text(at: address(image.name)), isName(name, of: noted) {
      command.hasName = true
      command.isUnderWay = arrays?.first(of: "FUNCNAME").map { isUnderWay(name, in: $0) } ?? false
    }
    return .bash(command)
  }

  /// After an error in an expression the pointer is left over, and leads to anything.
  private static func isName(_ name: [UInt8], of command: [UInt8]) -> Bool {
    !name.isEmpty && (command.starts(with: name) || name.allSatisfy { $0 > 0x20 && $0 < 0x7f })
  }

  /// A command's name is set when its words have been expanded, and none when it has ended. The commands of a function
  /// begin with the name that of the function still.
  private static func isUnderWay(_ name: [UInt8], in function: [UInt8]) -> Bool {
    name != function && !function.elementsEqual("command_not_found_handle".utf8)
      && !outer.contains { name.elementsEqual($0.utf8) }
  }

  /// - Parameter native: Whose frames say whether the command that is noted is the one that waits.
  static func stack(_ command: BashCommand, _ native: NamedStack) -> InterpretedStack {
    let places = BashPlace.places(of: native, expansions: command.expansions)
    var frames: [InterpretedFunction] = []
    if let certainty = BashPlace.certainty(of: command, at: places), !command.text.isEmpty {
      // Of a chain that has been cut off nobody knows whether code is evaluated that has other lines.
      let hasLine = certainty == .commandAndLine && native.isComplete && BashPlace.haveLines(places)
      frames = [
        InterpretedFunction(function: command.text, file: command.file, line: hasLine ? command.line : nil)
      ]
    }
    return InterpretedStack(
      language: Array("bash".utf8), isReadable: true, isComplete: false, frames: frames)
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
