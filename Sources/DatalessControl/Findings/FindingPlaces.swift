/// Gathers findings by program, with the stack of the longest wait of each.
///
/// Memory: for each program that has a finding some paths and one stack; and for each wait that has a stack 16 bytes,
/// up to a limit.
struct FindingPlaces: Sendable {
  struct Key: Hashable, Sendable {
    var kind: Finding.Kind
    /// Of the program.
    var group: Int
  }

  private struct Place: Sendable {
    var told = FindingPlace()
    var processes: Set<UInt32?> = []
    var longest: Int64 = -1
    var stack: UInt64?
    /// Whether something of it could not be told how much was spared.
    var isSparedUnknown = false
  }

  /// What is added to a place.
  struct Part: Sendable {
    var wait: FindingReader.Wait
    var count: Int64 = 1
    var paths: [[UInt8]]
    /// Nanoseconds; nil when the log does not tell.
    var spared: Int64?
    /// How long its longest wait was.
    var longest: Int64
  }

  /// LIMIT: stacks of waits that are remembered. Beyond, all are forgotten.
  private static let stacksMax = 65_536

  private var places: [Key: Place] = [:]
  private var stacks = StackTable()
  private var stackOfWait: [ViolationList.Wait: UInt64] = [:]
  /// Whose longest wait has no stack yet.
  private var wanted: [ViolationList.Wait: Set<Key>] = [:]

  /// - Parameters:
  ///   - process: Who it was, made only for the first of a place; nil when the log does not tell.
  ///   - change: What is particular to the finding.
  mutating func add(
    _ part: Part, to key: Key, process: () -> Violation.Process?, change: (inout FindingPlace) -> Void = { _ in }
  ) {
    // In its place: one program may be many processes.
    let isLongest = Self.add(part, &places[key, default: Place()], process)
    if let place = places.index(forKey: key) { change(&places.values[place].told) }
    guard isLongest, let wait = part.wait.key else { return }
    if let stack = stackOfWait[wait] {
      places[key]?.stack = stack
    } else if wanted.count < Self.stacksMax {
      wanted[wait, default: []].insert(key)
    }
  }

  /// - Returns: Whether it is the longest of the place.
  private static func add(_ part: Part, _ place: inout Place, _ process: () -> Violation.Process?) -> Bool {
    if place.told.processCount == 0 { place.told.process = process() }
    if place.processes.insert(part.wait.process).inserted { place.told.processCount += 1 }
    place.told.count = place.told.count.plus(part.count)
    place.told.blockedNanoseconds = place.told.blockedNanoseconds.plus(part.wait.blocked)
    if let spared = part.spared {
      place.told.sparedNanoseconds = (place.told.sparedNanoseconds ?? 0).plus(spared)
    } else {
      place.isSparedUnknown = true
    }
    for path in part.paths where place.told.paths.count < FindingPlace.pathsMax {
      let path = FindingPlace.Path(path)
      if !place.told.paths.contains(path) { place.told.paths.append(path) }
    }
    guard part.longest > place.longest else { return false }
    place.longest = part.longest
    place.stack = nil
    (place.told.attempt, place.told.threadID) = (part.wait.key?.number, part.wait.key?.threadID)
    return true
  }

  /// A stack may come before and after its wait has ended.
  mutating func stackTold(_ record: LogRecord) {
    guard let stack = stacks.add(record), let wait = ViolationList.Wait(record.json), !wait.isAccess else { return }
    if stackOfWait.count >= Self.stacksMax { stackOfWait.removeAll() }
    if stackOfWait[wait] == nil { stackOfWait[wait] = stack }
    for key in wanted.removeValue(forKey: wait) ?? [] {
      guard let place = places[key], place.told.attempt == wait.number, place.told.threadID == wait.threadID else {
        continue
      }
      places[key]?.stack = stack
    }
  }

  /// The places of a finding, the longest blocked first, and how many there are.
  func told(_ kind: Finding.Kind) -> (places: [FindingPlace], count: Int64) {
    let found = places.filter { $0.key.kind == kind }
      .sorted {
        ($1.value.told.blockedNanoseconds, $0.key.group) < ($0.value.told.blockedNanoseconds, $1.key.group)
      }
    let told = found.prefix(Finding.placesMax).map { _, place in
      var told = place.told
      if place.isSparedUnknown { told.sparedNanoseconds = nil }
      told.stack = place.stack.flatMap { stacks.stack($0) }
      return told
    }
    return (told, Int64(found.count))
  }

  /// Sums over all places of a finding; nil spared where something is not known.
  func sums(_ kind: Finding.Kind) -> (count: Int64, blocked: Int64, spared: Int64?) {
    var sums: (count: Int64, blocked: Int64, spared: Int64?) = (0, 0, 0)
    for (key, place) in places where key.kind == kind {
      sums.count = sums.count.plus(place.told.count)
      sums.blocked = sums.blocked.plus(place.told.blockedNanoseconds)
      let spared = place.isSparedUnknown ? nil : place.told.sparedNanoseconds
      sums.spared = sums.spared.flatMap { sum in spared.map(sum.plus) }
    }
    return sums
  }
}
