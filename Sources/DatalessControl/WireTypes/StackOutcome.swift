/// Why there is no stack of a caller, in words: `outcome` of `wait.stack` and of `GET /v1/stacks`.
public enum StackOutcome {
  public static func words(_ outcome: String) -> String {
    switch outcome {
    case "thread_ran": "the wait was over before it could be taken"
    case "not_permitted": "the daemon may not look at this process"
    case "memory_locked": "a thread of it maps a file that is awaited"
    case "unreadable": "its memory cannot be read"
    case "abandoned": "reading its memory took too long"
    case "symbols_unavailable": "what explains its files ended or took too long"
    case "unknown_thread": "it lives in another pid namespace"
    case "dropped": "too many are waiting"
    case "not_taken": "it was not asked for"
    case "not_blocked": "an intent blocks no thread: its process waits on a descriptor, if at all"
    case "no_helper": "no process could be started for it"
    default: TerminalText.escaped(outcome)
    }
  }

  /// Why there are no more frames, in words: `end` of a stack that is not complete.
  public static func end(_ end: String) -> String {
    switch end {
    case "no_tables": "there are no unwind tables for the code"
    case "unknown_register": "a register that the kernel does not tell is needed"
    case "outside_copy": "the stack goes on beyond what was copied"
    case "outside_code": "the next address is no code"
    case "on_volume": "the code is mapped from a volume"
    case "not_ascending": "the chain turns back"
    case "too_deep": tooDeep
    default: TerminalText.escaped(end)
    }
  }

  /// Of a stack with more frames than are kept.
  public static let tooDeep = "more frames than are kept"
}

extension CallerStack {
  /// Why functions are missing behind those that a line of text shows, in words; nil where none is known to be.
  ///
  /// Of node and bash, no chain is ever known to be whole: what is missing there is said of the language, not of each
  /// chain.
  public var gap: String? {
    if let interpreted, !interpreted.frames.isEmpty {
      let isWhole = interpreted.isComplete || ["node", "bash"].contains(interpreted.language)
      return isWhole ? nil : "there may be more functions"
    }
    return isComplete ? nil : StackOutcome.end(end)
  }

  /// What ends a chain of functions in a line of text that has not all of them.
  public static let incomplete = " < ... (incomplete)"
}
