import DatalessCore
import DequeModule

/// What is told of refusals that come before there is an intent: the first of a process for one reason at once, and
/// those that come within a second as one that counts the others. So none is left out, and a flood of them floods no
/// log.
struct RefusalRecords {
  private struct Key: Hashable {
    /// nil: those of many.
    let process: Int32?
    let code: CoordinationCode
  }

  private struct Entry {
    var event: Event.Coordination
    /// Since the last record.
    var count: Int64 = 0
  }

  static let interval = Nanoseconds.seconds(1)
  /// LIMIT: processes and reasons. Those of further processes are counted together, as nobody's.
  private static let entriesMax = 256
  private static let nobody = Caller(
    process: .unknown, threadID: 0, pid: 0, isMainThread: false, uid: 0, gid: 0)

  private var entries: [Key: Entry] = [:]
  private var times = Deque<(key: Key, until: MonotonicTime)>()

  /// When there may be something to be told.
  var next: MonotonicTime? { times.first?.until }

  /// - Parameter event: The record; called when there is none of the process for that reason yet.
  /// - Returns: What is to be told at once.
  mutating func add(
    _ refusal: CoordinationRefusal, of id: UInt64, process: Int32, at now: MonotonicTime,
    event: () -> Event.Coordination
  ) -> Event.Coordination? {
    var key = Key(process: process, code: refusal.code)
    if entries[key] == nil, entries.count >= Self.entriesMax { key = Key(process: nil, code: refusal.code) }
    guard var entry = entries[key] else {
      let event = event()
      var counting = event
      // Of several processes there is no one to be named.
      if key.process == nil { counting.caller = Self.nobody }
      entries[key] = Entry(event: counting)
      times.append((key, now + Self.interval))
      return event
    }
    entry.count += 1
    (entry.event.intent, entry.event.time) = (id, now)
    entry.event.step = .finished(
      outcome: refusal.outcome, held: nil, message: refusal.message, others: entry.count - 1)
    entries[key] = entry
    return nil
  }

  /// What is to be told now.
  mutating func take(at now: MonotonicTime) -> [Event.Coordination] {
    var found: [Event.Coordination] = []
    while let first = times.first, first.until <= now {
      times.removeFirst()
      guard let entry = entries.removeValue(forKey: first.key), entry.count > 0 else { continue }
      found.append(entry.event)
      entries[first.key] = Entry(event: entry.event)
      times.append((first.key, now + Self.interval))
    }
    return found
  }

  /// As `take`, whatever time it is.
  mutating func takeAll() -> [Event.Coordination] {
    let found = times.compactMap { entries[$0.key] }.filter { $0.count > 0 }.map(\.event)
    (entries, times) = ([:], [])
    return found
  }
}
