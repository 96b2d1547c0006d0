/// What a native frame of bash says about the command that is executed.
enum BashPlace: Sendable, Equatable {
  /// The words of a simple command are expanded.
  case words
  case builtin(String)
  /// Part of `[[`, or of the builtin `test`.
  case test
  /// `$(< FILE)`, which is done without a command.
  case copying
  case substitution
  /// Text is parsed and executed.
  case evaluation
  /// A file is executed; by which command, a frame further out says.
  case sourcing
  case execution
  /// The next command of the script is read.
  case reading

  enum Certainty { case command, commandAndLine }

  /// Of functions that bash exports; a static one has no name unless bash was built with all of them.
  private static let named: [String: BashPlace] = [
    "unary_test": .test, "binary_test": .test, "cond_expand_word": .test, "open_redir_file": .copying,
    "zcatfd": .copying, "command_substitute": .substitution, "parse_and_execute": .evaluation,
    "source_file": .sourcing, "maybe_execute_file": .sourcing, "execute_command_internal": .execution,
    "execute_command": .execution, "execute_shell_function": .execution, "read_command": .reading,
    "parse_command": .reading, "yyparse": .reading, "reader_loop": .reading,
  ]
  /// Within which the commands that are executed are noted, each as it begins.
  private static let transparent = ["source_builtin", "eval_builtin", "command_builtin", "builtin_builtin"]

  private static func place(of symbol: String) -> BashPlace? {
    // `execute_builtin` is no builtin.
    if symbol.hasSuffix("_builtin"), symbol != "execute_builtin", !symbol.hasPrefix("find_") { return .builtin(symbol) }
    return named[symbol]
  }

  /// - Returns: Of the frames that say something, innermost first.
  static func places(of native: NamedStack, expansions: [UInt64]) -> [BashPlace] {
    guard
      let module = native.frames.first(where: { $0.symbol.elementsEqual("execute_command_internal".utf8) })?.module
    else { return [] }
    return native.frames.compactMap { frame -> BashPlace? in
      guard frame.module == module else { return nil }
      if expansions.contains(frame.offset) { return .words }
      return place(of: String(decoding: frame.symbol, as: UTF8.self))
    }
  }

  /// - Parameter places: Innermost first.
  /// - Returns: nil where the command that is noted may be another one: of `for`, whose words are expanded, and of a
  ///   compound, whose redirections are done, nothing is noted before.
  static func certainty(of command: BashCommand, at places: [BashPlace]) -> Certainty? {
    var (isTest, isCopying) = (false, false)
    for (index, place) in places.enumerated() {
      switch place {
      case .words: return .commandAndLine
      case .builtin("eval_builtin"): return nil
      // One whose name has gone was interrupted by a trap, which had lines of its own.
      case .builtin: return command.hasName ? .commandAndLine : .command
      case .execution:
        if isTest { return .command }
        let isNoted = command.isUnderWay && haveNotes(places[index...])
        return isNoted ? .commandAndLine : nil
      case .substitution:
        guard isCopying else { return nil }
        isCopying = false
      case .evaluation: guard isCopying else { return nil }
      case .copying: isCopying = true
      case .test: isTest = true
      case .sourcing: break
      case .reading: return nil
      }
    }
    return nil
  }

  /// Whether no builtin calls functions by itself, as `compgen` and `mapfile` do.
  private static func haveNotes(_ places: ArraySlice<BashPlace>) -> Bool {
    places.allSatisfy { place in
      guard case .builtin(let name) = place else { return true }
      return transparent.contains(name)
    }
  }

  /// Whether all code that is executed comes from files: bash counts the lines of a text that is evaluated from where
  /// that is done, and those of a substitution in the text that it has made of it.
  static func haveLines(_ places: [BashPlace]) -> Bool {
    places.indices.allSatisfy { index in
      switch places[index] {
      case .substitution: return false
      case .evaluation:
        guard index + 1 < places.count else { return false }
        return places[index + 1] == .sourcing || places[index + 1] == .builtin("source_builtin")
      default: return true
      }
    }
  }
}
