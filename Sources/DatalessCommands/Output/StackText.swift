import DatalessControl
import DatalessCore

/// Stacks as text for a terminal: whatever is in names of functions and files is escaped.
enum StackText {
  /// Innermost first: the functions of an interpreted program, then the native frames.
  static func lines(_ stack: CallerStack, indent: String) -> [String] {
    var lines: [String] = []
    if let interpreted = stack.interpreted {
      let language = TerminalText.escaped(interpreted.language)
      lines.append(interpreted.isReadable ? "\(language):" : CallerStack.unreadable(interpreted.language))
      lines += interpreted.frames.map { "  " + name($0, of: interpreted) }
      if interpreted.isReadable, !interpreted.isComplete { lines.append("  (there may be more)") }
      lines.append("native:")
    }
    let deeper = stack.interpreted == nil ? "" : "  "
    lines += stack.frames.map { deeper + name($0) + ($0.isInlined == true ? " [inlined]" : "") + certainty($0) }
    if !stack.isComplete { lines.append("\(deeper)(incomplete: \(StackOutcome.end(stack.end)))") }
    if let problem = stack.problem { lines.append("(\(TerminalText.escaped(problem)))") }
    return lines.map { indent + $0 }
  }

  /// The functions that a developer knows, innermost first, in one line: what the program called, and its own.
  static func summary(_ stack: CallerStack, framesMax: Int = 4) -> String {
    let shown = ProgramFrames(stack).shown
    let names: [String]
    if let interpreted = stack.interpreted, !interpreted.frames.isEmpty {
      names = interpreted.frames[shown].map { name($0, of: interpreted) }
    } else {
      names = stack.frames[shown].map { name($0) + certainty($0) }
    }
    // First: in a narrow window the rest may be cut.
    let note = stack.unreadableLanguage.map { CallerStack.unreadable($0) + "; native " } ?? ""
    return note + names.prefix(framesMax).joined(separator: " < ") + rest(stack, names, framesMax: framesMax)
  }

  /// What stands behind the names of a line. Where one is a guess, it says itself that others may be missing.
  private static func rest(_ stack: CallerStack, _ names: [String], framesMax: Int) -> String {
    let isGuess = names.prefix(framesMax).contains { $0.hasSuffix(guessed) }
    if !names.isEmpty, !isGuess, stack.gap != nil { return CallerStack.incomplete }
    return names.count > framesMax ? " < ..." : ""
  }

  /// What an outcome that is no stack means.
  static func reason(_ outcome: String) -> String {
    StackOutcome.words(outcome)
  }

  private static func name(_ frame: InterpretedFrame, of stack: InterpretedCaller) -> String {
    PlaceText.text(
      TerminalText.escaped(frame.functionBytes), file: file(frame.fileBytes), line: frame.line,
      isFunctionLine: stack.hasFunctionLines == true)
  }

  private static func name(_ frame: CallerFrame) -> String {
    let module = PathBytes.lastComponent(frame.moduleBytes)
    let address = (module.isEmpty ? "" : TerminalText.escaped(module) + "+") + "0x" + String(frame.offset, radix: 16)
    guard let symbol = frame.symbolBytes else { return address }
    let name = TerminalText.escaped(symbol)
    guard let file = frame.fileBytes else { return "\(name) (\(address))" }
    return PlaceText.text(name, file: self.file(file), line: frame.line, isFunctionLine: false)
  }

  private static func file(_ path: [UInt8]) -> String { TerminalText.escaped(PathBytes.lastComponent(path)) }

  private static let guessed = " [guessed]"
  private static func certainty(_ frame: CallerFrame) -> String { frame.foundBy == "guess" ? guessed : "" }
}
