/// What was read of an interpreter while its thread waited; with the native frames, which come later, it is a stack.
enum InterpretedWalk: Sendable, Equatable {
  case python(InterpretedStack)
  /// Of bash: the command that it has noted last.
  case bash(BashCommand)
  /// Of node: which function each frame pointer stands for, should it be one, and where code is that V8 has compiled.
  case node([UInt64: InterpretedFunction], code: [Range<UInt64>])
  /// A version whose structures are not known.
  case unknown(language: String)

  /// - Parameter native: Whose frames say what of it holds.
  func stack(with native: NamedStack) -> InterpretedStack? {
    switch self {
    case .python(let stack): stack
    case .bash(let command): BashShell.stack(command, native)
    case .node(let functions, _): NodeStack.stack(functions, native)
    case .unknown(let language): .notReadable(language)
    }
  }

  /// See `ThreadCapture.framedCode`.
  var framedCode: [Range<UInt64>] {
    guard case .node(_, let code) = self else { return [] }
    return code
  }
}

extension InterpretedStack {
  static func notReadable(_ language: String) -> InterpretedStack {
    InterpretedStack(language: Array(language.utf8), isReadable: false, isComplete: false, frames: [])
  }
}
