internal import DatalessCore

/// The conditions of a rule in a form that can be looked up, and cut down to some of them.
struct MatchKey: Hashable {
  private struct Process: Hashable {
    var executables: Set<PathPattern>
    var commandNames: Set<PathPattern>
    var cgroups: Set<PathPattern>
    var uids: Set<UInt32>

    init(_ match: ProcessMatch) {
      executables = Set(match.executables)
      commandNames = Set(match.commandNames)
      cgroups = Set(match.cgroups)
      uids = Set(match.uids)
    }
  }

  /// Which conditions there are, as bits.
  private(set) var mask: UInt16 = 0
  private var paths: Set<PathPattern> = []
  private var size: ClosedRange<Int64>?
  private var kind: MaterializationKind?
  private var triggers: Set<Trigger> = []
  private var process: Process?
  private var ancestor: Process?
  private var attempts: ClosedRange<Int>?
  private var every: Int?
  private var window: Range<Int64>?

  /// - Parameter kept: Which of the conditions count; the others are left out.
  init(_ match: RuleMatch, keeping kept: UInt16 = .max) {
    func has(_ bit: UInt16, _ isGiven: Bool) -> Bool {
      guard isGiven, kept & (1 << bit) != 0 else { return false }
      mask |= 1 << bit
      return true
    }
    if has(0, !match.paths.isEmpty) { paths = Set(match.paths) }
    if has(1, match.size != nil) { size = match.size }
    if has(2, match.kind != nil) { kind = match.kind }
    if has(3, !match.triggers.isEmpty) { triggers = match.triggers }
    if has(4, match.process != nil) { process = match.process.map(Process.init) }
    if has(5, match.ancestor != nil) { ancestor = match.ancestor.map(Process.init) }
    if has(6, match.attempts != nil) { attempts = match.attempts }
    if has(7, match.everyAttempt != nil) { every = match.everyAttempt }
    if has(8, match.window != nil) { window = match.window }
  }
}
