import DatalessControl

/// What `dataless top` shows of its samples, and what keys do to it. Pure: no terminal, no clock, no daemon.
struct TopView {
  enum Order: String, CaseIterable, Sendable {
    case blocked, process, path
  }

  /// What has to be done after a key.
  enum Effect: Equatable {
    case none, redraw, refresh, quit
  }

  private(set) var order: Order
  private(set) var isReversed = false
  private(set) var filter: String
  private(set) var showsStacks: Bool
  private(set) var isPaused = false
  /// Rows that are scrolled out above.
  private(set) var offset = 0
  /// What is typed of a filter; nil when none is being typed.
  private(set) var typed: [UInt8]?
  private var escape: [UInt8] = []
  private(set) var sample: TopSample?

  init(order: Order = .blocked, filter: String = "", showsStacks: Bool = false) {
    (self.order, self.filter, self.showsStacks) = (order, filter, showsStacks)
  }

  mutating func show(_ sample: TopSample) { self.sample = sample }

  // MARK: - Keys

  /// - Parameter byte: Of standard input: keys of a terminal in any order, hostile ones among them.
  mutating func key(_ byte: UInt8) -> Effect {
    if typed != nil { return type(byte) }
    if !escape.isEmpty { return sequence(byte) }
    switch byte {
    case UInt8(ascii: "q"), 4: return .quit
    case 0x1b: escape = [byte]
    case UInt8(ascii: "s"): return sort(by: Self.next(order))
    case UInt8(ascii: "b"): return sort(by: .blocked)
    case UInt8(ascii: "p"): return sort(by: .process)
    case UInt8(ascii: "f"): return sort(by: .path)
    case UInt8(ascii: "r"): isReversed.toggle()
    case UInt8(ascii: "t"):
      showsStacks.toggle()
      return .refresh
    case UInt8(ascii: " "):
      isPaused.toggle()
      return isPaused ? .redraw : .refresh
    case UInt8(ascii: "/"): typed = []
    case UInt8(ascii: "j"): offset += 1
    case UInt8(ascii: "k"): offset = max(0, offset - 1)
    case 12: break
    default: return .none
    }
    return .redraw
  }

  private mutating func sort(by order: Order) -> Effect {
    self.order = order
    offset = 0
    return .redraw
  }

  private static func next(_ order: Order) -> Order {
    let all = Order.allCases
    return all[((all.firstIndex(of: order) ?? 0) + 1) % all.count]
  }

  /// Arrows and pages: `ESC [ A`. What is none of them is swallowed.
  private mutating func sequence(_ byte: UInt8) -> Effect {
    escape.append(byte)
    if escape.count == 2, byte == UInt8(ascii: "[") { return .none }
    // Parameters, until a final byte; LIMIT: no key has more.
    if escape.count > 2, (0x20...0x3f).contains(byte), escape.count < 16 { return .none }
    let keys = escape.dropFirst(2)
    escape = []
    switch String(decoding: keys, as: UTF8.self) {
    case "A": offset = max(0, offset - 1)
    case "B": offset += 1
    case "5~": offset = max(0, offset - 10)
    case "6~": offset += 10
    default: return .none
    }
    return .redraw
  }

  private mutating func type(_ byte: UInt8) -> Effect {
    switch byte {
    case 0x0d, 0x0a:
      filter = String(decoding: typed ?? [], as: UTF8.self)
      (typed, offset) = (nil, 0)
    case 0x1b, 4: typed = nil
    case 0x7f, 8: if typed?.isEmpty == false { typed?.removeLast() }
    // LIMIT: longer names are not typed.
    case 0x20...: if (typed?.count ?? 0) < 256 { typed?.append(byte) }
    default: return .none
    }
    return .redraw
  }

  // MARK: - Rows

  /// Who waits, filtered and sorted.
  var callers: [BlockedCaller] {
    guard let sample else { return [] }
    let wanted = filter.lowercased()
    let found =
      wanted.isEmpty
      ? sample.callers
      : sample.callers.filter { caller in
        [caller.path, caller.waiter.comm ?? "", caller.waiter.exe ?? "", caller.waiter.script ?? ""]
          .contains { $0.lowercased().contains(wanted) }
      }
    let sorted = found.sorted { left, right in
      switch order {
      case .blocked: left.waiter.blockedNanoseconds > right.waiter.blockedNanoseconds
      case .process:
        (Self.name(left), left.waiter.pid, left.waiter.tid) < (Self.name(right), right.waiter.pid, right.waiter.tid)
      case .path: left.path < right.path
      }
    }
    return isReversed ? sorted.reversed() : sorted
  }

  /// Intents that wait, filtered as callers are; the oldest first, whatever callers are sorted by.
  var intents: [WaitingIntent] {
    let intents = sample?.intents ?? []
    let wanted = filter.lowercased()
    guard !wanted.isEmpty else { return intents }
    return intents.filter { waiting in
      let process = waiting.intent.process
      return [waiting.intent.path, process?.comm ?? "", process?.exe ?? "", process?.script ?? ""]
        .contains { $0.lowercased().contains(wanted) }
    }
  }

  private static func name(_ caller: BlockedCaller) -> String {
    ProcessName.text(comm: caller.waiter.comm, exe: caller.waiter.exe, script: caller.waiter.script)
  }

  private static let table = TextTable([
    .init("BLOCKED", .right, width: 9), .init("WHO", width: 20, widthMax: 28), .init("THREAD", width: 10, widthMax: 24),
    .init("WHAT", width: 8), .init("FOR"),
  ])

  /// - Parameters:
  ///   - width: Longer lines are cut; 0 for none.
  ///   - height: Lines in all; 0 for as many as there are.
  ///   - note: What there is to say about the volume, in the place of the keys.
  func lines(width: Int, height: Int, note: String? = nil) -> [String] {
    guard let sample else { return [note ?? "waiting for the volume's first answer"] }
    var lines = sample.head
    let isScreen = height > 0
    if isScreen { lines.append(note ?? keys) }
    let (callers, intents) = (callers, intents)
    if !filter.isEmpty {
      let count = callers.count + intents.count
      lines.append("only \(TerminalText.escaped(filter)): \(count) of \(sample.callers.count + sample.intents.count)")
    }
    lines.append(Self.table.header)
    let first = min(offset, max(0, callers.count - 1))
    for caller in isScreen ? callers.dropFirst(first) : callers[...] {
      lines.append(Self.row(caller))
      // They are asked for with the next look, which may be some time off: nobody knows anything about them yet.
      if showsStacks { lines.append("           " + (sample.hasStacks ? Self.place(caller) : "...")) }
      if isScreen, lines.count >= height { break }
    }
    for intent in intents { lines += StackCommand.lines(intent).prefix(1) }
    if callers.isEmpty, intents.isEmpty {
      lines.append(sample.callers.isEmpty && sample.waitingIntents == 0 ? "nobody waits" : "nobody of these waits")
    }
    if isScreen { lines = Array(lines.prefix(height)) }
    return width > 0 ? lines.map { String($0.prefix(width)) } : lines
  }

  private var keys: String {
    if let typed { return "filter: " + TerminalText.escaped(typed) }
    return "sorted by \(order.rawValue)\(isReversed ? ", reversed" : "")\(isPaused ? ", PAUSED" : "")"
      + "   keys: b p f sort, r reverse, / filter, t stacks, space pause, q quit"
  }

  private static func row(_ caller: BlockedCaller) -> String {
    let waiter = caller.waiter
    let path = caller.pathBytes.isEmpty ? "." : TerminalText.escaped(caller.pathBytes)
    return table.line([
      HumanText.duration(nanoseconds: waiter.blockedNanoseconds), "\(name(caller))[\(waiter.pid)]",
      waiter.mainThread ? "main" : Self.thread(waiter), TerminalText.escaped(waiter.trigger), path,
    ])
  }

  /// Its number, and the name that it gives itself.
  private static func thread(_ waiter: InFlightWaiter) -> String {
    "\(waiter.tid)" + (waiter.threadName.map { " " + TerminalText.escaped($0) } ?? "")
  }

  /// Where it stands in its program.
  private static func place(_ caller: BlockedCaller) -> String {
    caller.stack.map { StackText.summary($0) } ?? "no stack: \(StackText.reason(caller.outcome))"
  }
}
