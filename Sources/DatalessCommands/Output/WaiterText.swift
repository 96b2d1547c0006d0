import DatalessControl

/// Blocked callers as lines of text.
enum WaiterText {
  /// One line for each, and one for those that are not listed.
  static func lines(_ waiters: [InFlightWaiter], count: Int64, indent: String) -> [String] {
    var lines = waiters.map { waiter in
      let name =
        waiter.comm ?? waiter.exeBytes.map { String(decoding: PathBytes.lastComponent($0), as: UTF8.self) } ?? "?"
      let thread = waiter.mainThread ? "main thread" : "thread \(waiter.tid)"
      let blocked = HumanText.duration(nanoseconds: waiter.blockedNanoseconds)
      return
        "\(indent)\(TerminalText.escaped(name))[\(waiter.pid)] \(thread), \(TerminalText.escaped(waiter.trigger)), "
        + "blocked \(blocked)"
    }
    let more = count - Int64(waiters.count)
    if more > 0 { lines.append("\(indent)and \(HumanText.count(more)) more") }
    return lines
  }
}
