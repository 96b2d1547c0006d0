import DatalessCore

/// The violations of one expectation: the same of one process at one path is one, with a count. Of waits the same is
/// what has the same stack, on threads of the same kind.
struct ViolationList: Sendable {
  private struct Key: Hashable {
    var path: UInt64?
    var process: UInt32?
    /// Only of waits, as is the id of the stack; nil also where nobody knows.
    var isMainThread: Bool?
    var stack: UInt64?
  }

  /// A wait, by which its stack is found.
  struct Wait: Hashable, Sendable {
    /// Of the attempt, or of the delayed call.
    var number: UInt64
    var isAccess: Bool
    var threadID: Int32

    /// - Returns: nil for a record that names neither, or no thread.
    init?(_ json: JSONObject) {
      self.init(
        attempt: json.unsigned("attempt"), access: json.unsigned("access"),
        threadID: json.integer("tid").flatMap { Int32(exactly: $0) })
    }

    init?(attempt: UInt64?, access: UInt64?, threadID: Int32?) {
      guard let number = attempt ?? access, let threadID else { return nil }
      (self.number, isAccess, self.threadID) = (number, attempt == nil, threadID)
    }
  }

  private struct Listed: Sendable {
    var key: Key
    /// Of its first time among all violations, from 1.
    var number: Int64
    var violation: Violation
    var stack: ToldStack?

    mutating func merge(_ other: Listed) {
      let count = violation.count + other.violation.count
      let measured = max(violation.measured, other.violation.measured)
      if other.number < number { self = other }
      (violation.count, violation.measured) = (count, measured)
    }
  }

  /// Whether every wait is meant, so that two of one process at one path are two if they have two stacks.
  private let tellsStacksApart: Bool
  private var listed: [Listed] = []
  private var places: [Key: Int] = [:]
  /// Those that have no stack yet: it may be told later.
  private var withoutStack: [Wait: [Int]] = [:]
  /// Waits of which nobody knows yet with which others they are one: their stacks may be told later.
  private var late: [Wait: [Listed]] = [:]
  private var lateCount = 0
  private(set) var count: Int64 = 0

  init(of measure: Expectation.Measure) { tellsStacksApart = measure == .maxWait || measure == .maxMainThread }

  /// - Parameters:
  ///   - process: The log's id.
  ///   - isMainThread: nil where nobody knows.
  ///   - stack: Its stack, or why there is none, if that was told already.
  ///   - make: The violation, made only if it is to be listed.
  mutating func add(
    path: [UInt8]?, process: UInt32?, isMainThread: Bool?, measured: Int64, wait: Wait?, stack: ToldStack?,
    _ make: () -> Violation
  ) {
    count += 1
    var key = Key(path: path.map { PathHash.of($0) }, process: process)
    if tellsStacksApart {
      (key.isMainThread, key.stack) = (isMainThread, stack?.id)
      if let wait, stack?.id == nil {
        // LIMIT: as many as are listed. Of those before, no stack is waited for any longer.
        if lateCount >= Violation.listedMax { settleLate() }
        late[wait, default: []].append(Listed(key: key, number: count, violation: make(), stack: stack))
        lateCount += 1
        return
      }
    }
    if let index = places[key] {
      listed[index].violation.count += 1
      listed[index].violation.measured = max(listed[index].violation.measured, measured)
      return
    }
    guard listed.count < Violation.listedMax else { return }
    if !tellsStacksApart, let wait, stack?.id == nil { withoutStack[wait, default: []].append(listed.count) }
    list(Listed(key: key, number: count, violation: make(), stack: stack))
  }

  private mutating func list(_ new: Listed) {
    if let index = places[new.key] {
      listed[index].merge(new)
    } else if listed.count < Violation.listedMax {
      places[new.key] = listed.count
      listed.append(new)
    }
  }

  /// Waits whose stacks were not told have none.
  private mutating func settleLate() {
    for wait in late.values.joined().sorted(by: { $0.number < $1.number }) { list(wait) }
    (late, lateCount) = ([:], 0)
  }

  /// The stack of a wait was told, or why there is none.
  mutating func told(stack: ToldStack, of wait: Wait) {
    for index in withoutStack[wait] ?? [] { listed[index].stack = stack }
    if stack.id != nil { withoutStack[wait] = nil }
    guard var waits = late.removeValue(forKey: wait) else { return }
    for index in waits.indices { (waits[index].stack, waits[index].key.stack) = (stack, stack.id) }
    if stack.id == nil {
      late[wait] = waits
    } else {
      lateCount -= waits.count
      for wait in waits { list(wait) }
    }
  }

  /// In the order of the log.
  ///
  /// - Parameter option: Which stacks the volume was mounted to take, if the log says it.
  func violations(_ stacks: StackTable, of measure: Expectation.Measure, option: String?) -> [Violation] {
    var all = self
    all.settleLate()
    return all.listed.sorted { $0.number < $1.number }.map { listed in
      var violation = listed.violation
      violation.stack = listed.stack?.id.flatMap(stacks.stack)
      violation.hint = ExpectationWords.hint(measure)
      if violation.stack == nil, ExpectationWords.isAboutCode(measure) {
        violation.hint += " " + ExpectationWords.noStack(listed.stack, option: option)
      }
      return violation
    }
  }
}
