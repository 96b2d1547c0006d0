import DatalessControl

/// Texts, stacks and frames of a page, each once, by their numbers.
struct PageTexts {
  private(set) var all: [String] = []
  private var indexOfText: [String: Int] = [:]
  private var frames: [ReportFrame] = []
  private var indexOfFrame: [ReportFrame: Int] = [:]
  private var stacks: [Int] = []
  private var indexOfStack: [Int: Int] = [:]

  mutating func text(_ text: String) -> Int64 {
    if let index = indexOfText[text] { return Int64(index) }
    indexOfText[text] = all.count
    all.append(text)
    return Int64(all.count - 1)
  }

  /// -1 for an unknown one.
  mutating func path(_ path: [UInt8]?) -> Int64 { path.map { text(PathText.of($0)) } ?? -1 }

  /// -1 for none, below that the text of why there is none.
  mutating func stack(_ stack: ReportStack) -> Int64 {
    switch stack {
    case .none: return -1
    case .missing(let why): return -2 - text(TerminalText.escaped(why))
    case .known(let index):
      if let known = indexOfStack[index] { return Int64(known) }
      indexOfStack[index] = stacks.count
      stacks.append(index)
      return Int64(stacks.count - 1)
    }
  }

  /// Stacks that were met, and their frames. What these are called comes into the all.
  mutating func writeStacks(_ json: inout JSONBuffer, _ table: StackTable) {
    json.key("stacks")
    json.array { json in
      for index in stacks {
        let stack = table[index]
        json.array { json in
          json.integer(stack.isComplete ? 1 : 0)
          json.array { json in for frame in stack.frames { json.integer(self.frame(frame)) } }
          json.integer(Int64(stack.shown.lowerBound))
          json.integer(Int64(stack.shown.upperBound))
        }
      }
    }
    json.key("frames")
    json.array { json in
      for frame in frames {
        json.array { json in
          json.integer(text(frame.name))
          json.integer(frame.file.map { text($0) } ?? -1)
          // Of a line at which a function begins, the name alone says what it is.
          json.integer(frame.isFunctionLine == true ? 0 : frame.line.map { Int64($0) } ?? 0)
          json.integer(frame.isGuess == true ? 1 : 0)
        }
      }
    }
    json.key("stackNotes")
    json.array { json in
      for index in stacks { json.integer(table[index].unreadable.map { text(CallerStack.unreadable($0)) } ?? -1) }
    }
  }

  private mutating func frame(_ frame: ReportFrame) -> Int64 {
    if let index = indexOfFrame[frame] { return Int64(index) }
    indexOfFrame[frame] = frames.count
    frames.append(frame)
    return Int64(frames.count - 1)
  }
}
