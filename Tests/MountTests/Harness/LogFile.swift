import FoundationEssentials
import Glibc
import TestSupport

/// A volume's event log, read as a file.
struct LogFile: Sendable {
  let path: String

  /// Every complete line so far. A line that is not JSON is an error: the log is always valid.
  func records() throws -> [JSON] {
    guard let data = FileManager.default.contents(atPath: path) else { return [] }
    var records: [JSON] = []
    for line in data.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: true) {
      if line.endIndex == data.endIndex { break }  // Still being written.
      records.append(try JSON(parsing: line))
    }
    return records
  }

  /// All of it.
  func text() -> String { String(decoding: FileManager.default.contents(atPath: path) ?? .init(), as: UTF8.self) }

  func records(ofType type: String) throws -> [JSON] { try records().filter { $0["type"]?.string == type } }

  /// Waits until the records satisfy a condition; an event of the file's directory, not a clock, makes it look again.
  ///
  /// - Throws: If the time limit passes first, with the types that are there.
  @discardableResult
  func wait(
    _ purpose: String, timeLimit: Duration = .seconds(30), until condition: @escaping @Sendable ([JSON]) -> Bool
  ) async throws -> [JSON] {
    let result: Result<[JSON], any Error> = await Pthread.value {
      Result { try waitBlocking(purpose, timeLimit: timeLimit, until: condition) }
    }
    return try result.get()
  }

  private func waitBlocking(_ purpose: String, timeLimit: Duration, until condition: ([JSON]) -> Bool) throws -> [JSON]
  {
    let notification = inotify_init1(Int32(O_CLOEXEC))
    defer { close(notification) }
    let directory = path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
    inotify_add_watch(notification, directory, UInt32(IN_MODIFY) | UInt32(IN_CREATE))
    let started = ContinuousClock.now
    while true {
      let records = try records()
      if condition(records) { return records }
      let remaining = (timeLimit - (ContinuousClock.now - started)).wholeMilliseconds
      if remaining <= 0 {
        var counts: [String: Int] = [:]
        for record in records { counts[record["type"]?.string ?? "?", default: 0] += 1 }
        throw HarnessError("\(path): not in \(timeLimit): \(purpose); it has \(counts)")
      }
      var polled = pollfd(fd: notification, events: Int16(POLLIN), revents: 0)
      poll(&polled, 1, Int32(min(remaining, 60_000)))
      if polled.revents != 0 {
        var buffer = [UInt8](repeating: 0, count: 65536)
        _ = read(notification, &buffer, buffer.count)
      }
    }
  }

  /// Waits until at least so many callers wait, or have waited, in an operation. The look-up of a name may wait before
  /// it.
  func waitForWaiters(_ count: Int, trigger: String = "read", timeLimit: Duration = .seconds(20)) async throws {
    try await wait("\(count) waits", timeLimit: timeLimit) { Self.waits(in: $0, trigger: trigger) >= count }
  }

  static func waits(in records: [JSON], trigger: String = "read") -> Int {
    records.count { $0["type"]?.string == "wait.started" && $0["trigger"]?.string == trigger }
  }
}
