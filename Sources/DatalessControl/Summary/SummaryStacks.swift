/// Where main threads stood while they were blocked, as `wait.stack` records tell. Each stack is told once, and its
/// number afterwards.
struct SummaryStacks: Sendable {
  /// The innermost function that is the program's own, as `ProgramFrames` tells.
  struct Place: Sendable, Equatable {
    var function: String
    /// nil without debug information.
    var file: String?
    var line: UInt32?
    /// Whether the function begins at the line, and stands nobody knows where.
    var isFunctionLine = false
    /// Whose interpreter's function it is, where those of the program cannot be read.
    var unreadable: String?
  }

  struct Wait: Sendable, Hashable {
    var attempt: UInt64
    var threadID: Int32
  }

  // LIMIT: stacks and waits that are remembered, and bytes of a name; the daemon numbers no more stacks. Beyond, all
  // are forgotten.
  private static let placesMax = 100_000
  private static let waitsMax = 65_536
  static let nameMax = 256

  private var places: [UInt64: Place] = [:]
  private var waits: [Wait: UInt64] = [:]

  /// - Returns: The wait of a main thread whose stack this is, and where it stood.
  mutating func add(_ record: LogRecord) -> (wait: Wait, place: Place)? {
    let json = record.json
    guard let number = json.unsigned("stack_id") else { return nil }
    if let bytes = json.raw("stack"),
      let stack = try? WireCoding.decode(CallerStack.self, from: Array(bytes), named: "a stack"),
      var place = Place(stack)
    {
      place.unreadable = stack.unreadableLanguage
      if places.count >= Self.placesMax { places.removeAll() }
      places[number] = place
    }
    guard json.bool("main_thread") == true, let attempt = record.attempt,
      let thread = json.integer("tid").flatMap({ Int32(exactly: $0) }), let place = places[number]
    else { return nil }
    let wait = Wait(attempt: attempt, threadID: thread)
    if waits.count >= Self.waitsMax { waits.removeAll() }
    waits[wait] = number
    return (wait, place)
  }

  /// nil for a wait whose stack has not come, or never does.
  func place(of wait: Wait) -> Place? { waits[wait].flatMap { places[$0] } }
}

extension SummaryStacks.Place {
  /// The program's own frame, of an interpreted program among its functions; where none is the program's, the innermost
  /// with a name that is not the C library's. One that has no name is told by its module and the address in it.
  ///
  /// - Returns: nil for a stack without names.
  init?(_ stack: CallerStack) {
    func cut(_ text: String) -> String { String(text.prefix(SummaryStacks.nameMax)) }
    let frames = ProgramFrames(stack)
    if let functions = stack.interpreted?.frames, let innermost = functions.first {
      let frame = frames.own.map { functions[$0] } ?? innermost
      self.init(
        function: cut(frame.function), file: frame.file.isEmpty ? nil : cut(frame.file), line: frame.line,
        isFunctionLine: frame.line != nil && stack.interpreted?.hasFunctionLines == true)
      return
    }
    let named = frames.own ?? frames.shown.first { stack.frames[$0].symbol != nil }
    guard let frame = named.map({ stack.frames[$0] }) else { return nil }
    let module = String(decoding: PathBytes.lastComponent(frame.moduleBytes), as: UTF8.self)
    let address = "\(module)+0x\(String(frame.offset, radix: 16))"
    self.init(function: cut(frame.symbol ?? address), file: frame.file.map(cut), line: frame.line)
  }

  /// `load (fm.py:9)`, escaped for a terminal.
  var text: String {
    PlaceText.text(
      TerminalText.escaped(function),
      file: file.map { TerminalText.escaped(PathBytes.lastComponent(Array($0.utf8))) }, line: line,
      isFunctionLine: isFunctionLine)
  }
}
