import Synchronization

/// One line on a terminal that is overwritten, after the first second; nothing when standard error is not a terminal.
final class ProgressLine: Sendable {
  private let began = ContinuousClock.now
  private let isTerminal = Console.isTerminal
  private let isShown = Atomic<Bool>(false)

  func show(_ text: String) {
    guard isTerminal, began.duration(to: .now) > .seconds(1) else { return }
    isShown.store(true, ordering: .relaxed)
    Console.write(Array("\r\u{1b}[K\(text)".utf8))
  }

  func clear() {
    guard isShown.load(ordering: .relaxed) else { return }
    Console.write(Array("\r\u{1b}[K".utf8))
  }
}
