import DatalessCore

/// The violations of one expectation: the same of one process at one path is one, with a count.
struct ViolationList: Sendable {
  private struct Key: Hashable {
    var path: UInt64?
    var process: UInt32?
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
    var violation: Violation
    var stack: ToldStack?
  }

  private var listed: [Listed] = []
  private var places: [Key: Int] = [:]
  /// Those that have no stack yet: it may be told later.
  private var withoutStack: [Wait: [Int]] = [:]
  private(set) var count: Int64 = 0

  /// - Parameters:
  ///   - process: The log's id.
  ///   - stack: Its stack, or why there is none, if that was told already.
  ///   - make: The violation, made only if it is to be listed.
  mutating func add(
    path: [UInt8]?, process: UInt32?, measured: Int64, wait: Wait?, stack: ToldStack?, _ make: () -> Violation
  ) {
    count += 1
    let key = Key(path: path.map { PathHash.of($0) }, process: process)
    if let index = places[key] {
      listed[index].violation.count += 1
      listed[index].violation.measured = max(listed[index].violation.measured, measured)
      return
    }
    guard listed.count < Violation.listedMax else { return }
    places[key] = listed.count
    if let wait, stack?.id == nil { withoutStack[wait, default: []].append(listed.count) }
    listed.append(Listed(violation: make(), stack: stack))
  }

  /// The stack of a wait was told, or why there is none.
  mutating func told(stack: ToldStack, of wait: Wait) {
    for index in withoutStack[wait] ?? [] { listed[index].stack = stack }
    if stack.id != nil { withoutStack[wait] = nil }
  }

  /// - Parameter option: Which stacks the volume was mounted to take, if the log says it.
  func violations(_ stacks: StackTable, of measure: Expectation.Measure, option: String?) -> [Violation] {
    listed.map { listed in
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
