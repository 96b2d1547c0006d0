/// Why there is no stack of a caller, in words: `outcome` of `wait.stack` and of `GET /v1/stacks`.
public enum StackOutcome {
  public static func words(_ outcome: String) -> String {
    switch outcome {
    case "thread_ran": "the wait was over before it could be taken"
    case "not_permitted": "the daemon may not look at this process"
    case "memory_locked": "another thread of it maps a file that is awaited"
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
}
