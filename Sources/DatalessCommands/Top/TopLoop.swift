import DatalessControl
import Glibc

/// Waits for answers, keys and signals, and shows what there is.
struct TopLoop {
  let feed: TopFeed
  /// nil: there is no screen.
  let signals: SignalPipe?
  var view: TopView
  let interval: Duration
  /// Looks that are left; nil: no end.
  var looks: Int?
  let isJSON: Bool
  private var before: VolumeStatus?
  private var isAsking = false
  /// Whether a key wants another look as soon as this one is there.
  private var isHurried = false
  private var next = ContinuousClock.now
  private let output = StandardOutput()
  /// Whether what is printed goes to a reader that may go away while nothing is.
  private let hasReaders: Bool

  /// What was waited for and is there.
  private struct Ready {
    var answer = false
    var signal = false
    var key = false
    var hasHungUp = false
    var isUnread = false
  }

  init(
    feed: TopFeed, signals: SignalPipe?, view: TopView, interval: Duration, looks: Int?, isJSON: Bool
  ) {
    self.feed = feed
    self.signals = signals
    self.view = view
    self.interval = interval
    self.looks = looks
    self.isJSON = isJSON
    hasReaders = signals == nil && ReaderWatch.hasReaders(STDOUT_FILENO)
  }

  /// Until it is told to end. - Throws: What the daemon's answers and the output throw; `CommandExit`.
  mutating func run() throws {
    try show()
    while true {
      ask()
      let ready = wait()
      if ready.isUnread { throw CommandExit(.success) }
      if ready.answer, let answer = feed.next(), try take(answer.get()) { return }
      if ready.signal, let signals { try take(signalOf: signals) }
      if ready.key, try takeKeys(ready.hasHungUp) { return }
    }
  }

  private mutating func ask() {
    guard !isAsking, !view.isPaused || before == nil, next <= .now else { return }
    isAsking = true
    feed.ask(withStacks: view.showsStacks)
  }

  private func wait() -> Ready {
    var polled = [pollfd(fd: feed.descriptor, events: Int16(POLLIN), revents: 0)]
    if let signals {
      polled.append(pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0))
      polled.append(pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0))
    } else if hasReaders {
      polled.append(ReaderWatch.polled(STDOUT_FILENO))
    }
    let left = max(.zero, next - .now)
    // Rounded up: not to wake just before the time.
    let milliseconds = isAsking || view.isPaused ? -1 : CInt(clamping: left.nanoseconds / 1_000_000 + 1)
    let count = poll(&polled, nfds_t(polled.count), milliseconds)
    guard count > 0 else { return Ready() }
    var ready = Ready(answer: polled[0].revents != 0)
    if signals != nil {
      let key = polled[2].revents
      (ready.signal, ready.key) = (polled[1].revents != 0, key != 0)
      ready.hasHungUp = key & Int16(POLLHUP | POLLERR | POLLNVAL) != 0
    } else if hasReaders {
      ready.isUnread = ReaderWatch.isGone(polled[1])
    }
    return ready
  }

  /// - Returns: Whether it was the last look.
  private mutating func take(_ look: TopFeed.Look) throws -> Bool {
    isAsking = false
    next = isHurried ? .now : .now + interval
    isHurried = false
    view.show(TopSample(look.status, stacks: look.stacks, before: before))
    before = look.status
    looks = looks.map { $0 - 1 }
    try show()
    return looks == 0
  }

  private mutating func take(signalOf signals: SignalPipe) throws {
    var byte: UInt8 = 0
    guard read(signals.descriptor, &byte, 1) == 1 else { return }
    switch CInt(byte) {
    case SIGWINCH: break
    case SIGINT:
      TopTerminal.leave()
      throw CommandExit(.interrupted)
    case SIGTSTP:
      TopTerminal.leave()
      kill(getpid(), SIGSTOP)
      TopTerminal.enter()
    default:
      TopTerminal.leave()
      SignalPipe.die(of: CInt(byte))
    }
    try show()
  }

  /// - Parameter hasHungUp: Of the terminal, which may also have nothing to read: a signal's key drops those before it.
  /// - Returns: Whether to end: asked to, or the terminal is gone.
  private mutating func takeKeys(_ hasHungUp: Bool) throws -> Bool {
    var bytes = [UInt8](repeating: 0, count: 256)
    let count = read(STDIN_FILENO, &bytes, bytes.count)
    guard count > 0 else { return hasHungUp || (count < 0 && errno != EINTR && errno != EAGAIN) }
    for byte in bytes.prefix(count) {
      switch view.key(byte) {
      case .none: continue
      case .quit: return true
      case .redraw: break
      case .refresh: (next, isHurried) = (.now, isAsking)
      }
    }
    try show()
    return false
  }

  private func show() throws {
    if signals != nil {
      let size = TopTerminal.size
      try output.write(TopTerminal.screen(view.lines(width: size.columns, height: size.rows)))
      return
    }
    guard var answer = view.sample?.answer else { return }
    answer.callers = view.callers
    if answer.intents != nil { answer.intents = view.intents }
    if isJSON { return try output.json(answer) }
    for line in view.lines(width: 0, height: 0) + [""] { try output.line(line) }
    try output.flush()
  }
}
