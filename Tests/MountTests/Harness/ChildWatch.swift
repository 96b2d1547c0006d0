import Glibc

/// What the thread beside a child does: collects what the child says until it ends or its time is up.
struct ChildWatch: Sendable {
  let pid: pid_t
  let output: Int32
  let errors: Int32
  let started: ContinuousClock.Instant
  let timeLimit: Duration
  let lines: AsyncStream<String>.Continuation

  /// How long the kernel may take to end a process after SIGKILL before it counts as stuck.
  static let patience = Duration.seconds(5)

  func run() -> Finished {
    let processFD = Spawn.descriptorOfEnd(of: pid)
    var collected: [Int32: [UInt8]] = [output: [], errors: []]
    var lineStart = 0
    var open: Set<Int32> = [output, errors]
    var timedOut = false
    var ended = false
    while !ended {
      let limit = timedOut ? timeLimit + Self.patience : timeLimit
      let remaining = (limit - (ContinuousClock.now - started)).wholeMilliseconds
      if remaining <= 0 {
        if timedOut { break }
        timedOut = true
        kill(-pid, SIGKILL)
        kill(pid, SIGKILL)
        continue
      }
      // The end of the process decides, not the end of its pipes: a daemon it left behind may hold them.
      var polled = [pollfd(fd: processFD, events: Int16(POLLIN), revents: 0)]
      polled += open.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
      let count = poll(&polled, nfds_t(polled.count), Int32(min(remaining, 60_000)))
      if count < 0 { continue }
      ended = polled[0].revents != 0
      for entry in polled.dropFirst() where entry.revents != 0 || ended {
        if !drain(entry.fd, into: &collected[entry.fd]!) { open.remove(entry.fd) }
      }
      lineStart = announce(collected[output]!, from: lineStart)
    }
    var raw: Int32 = 0
    if ended { waitpid(pid, &raw, 0) }
    if lineStart < collected[output]!.count {
      lines.yield(String(decoding: collected[output]![lineStart...], as: UTF8.self))
    }
    lines.finish()
    for fd in [processFD, output, errors] { close(fd) }
    let exited = ended && raw & 0x7f == 0
    return Finished(
      status: exited ? (raw >> 8) & 0xff : nil, signal: ended && !exited ? raw & 0x7f : nil, timedOut: timedOut,
      stuck: !ended, output: collected[output]!, errors: collected[errors]!, duration: ContinuousClock.now - started)
  }

  /// Takes what is in the pipe now; false at its end.
  private func drain(_ fd: Int32, into bytes: inout [UInt8]) -> Bool {
    var chunk = [UInt8](repeating: 0, count: 65536)
    while true {
      var polled = pollfd(fd: fd, events: Int16(POLLIN), revents: 0)
      guard poll(&polled, 1, 0) > 0 else { return true }
      let count = read(fd, &chunk, chunk.count)
      if count <= 0 { return false }
      bytes += chunk[..<count]
    }
  }

  private func announce(_ bytes: [UInt8], from start: Int) -> Int {
    var start = start
    while let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) {
      lines.yield(String(decoding: bytes[start..<end], as: UTF8.self))
      start = end + 1
    }
    return start
  }
}

extension Duration {
  /// Rounded down.
  var wholeMilliseconds: Int64 {
    let (seconds, attoseconds) = components
    return seconds * 1000 + attoseconds / 1_000_000_000_000_000
  }

  var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
