/// One line on a terminal that is overwritten, after the first second; nothing when standard error is not a terminal.
final class ProgressLine {
  private let began = ContinuousClock.now
  private let isTerminal = Console.isTerminal
  private var isShown = false

  func show(_ text: String) {
    guard isTerminal, began.duration(to: .now) > .seconds(1) else { return }
    isShown = true
    Console.write(Array("\r\u{1b}[K\(text)".utf8))
  }

  func clear() {
    guard isShown else { return }
    Console.write(Array("\r\u{1b}[K".utf8))
  }
}
