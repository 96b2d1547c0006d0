/// What a refresh has still to do, and what it has found.
struct RefreshWork {
  enum Step {
    /// List a directory again.
    case list(NodeIndex, recurses: Bool)
    /// Ask those who present what would change, and begin anew.
    case ask
    /// Put in what came, and take away what went.
    case settle
    case finish
  }

  var findings: RefreshFindings
  /// Under which presenters were asked; nil: nobody was.
  var question: UInt64?
  /// Directories to be listed, the next one last.
  var directories: [(node: NodeIndex, recurses: Bool)] = []
  var walked: Set<NodeIndex> = []
  /// Directories that have become the volume's own: nothing is listed in them any more.
  private(set) var own: Set<NodeIndex> = []
  /// Paths that were asked for and were not known.
  var unknown: [[UInt8]] = []
  private(set) var failures: [(path: [UInt8], error: FSError)] = []
  private(set) var failureCount: Int64 = 0
  private var rounds = 0
  private var hasBegun = false

  private static let failuresMax = 1000
  /// LIMIT: renamed directories are gone through in so many rounds; a store that renames them meanwhile has no end.
  private static let roundsMax = 16

  init(findings: RefreshFindings) { self.findings = findings }

  /// - Returns: Whether this is the first step.
  mutating func begin() -> Bool {
    defer { hasBegun = true }
    return !hasBegun
  }

  mutating func next() -> Step {
    if let next = directories.popLast() { return .list(next.node, recurses: next.recurses) }
    if findings.look != nil { return .ask }
    // What only goes comes to an end by itself.
    guard rounds < Self.roundsMax || findings.deferred.isEmpty, findings.hasOpenEnds else { return .finish }
    rounds += 1
    return .settle
  }

  /// Listed directories that were seen are next, in their order.
  mutating func takeSubdirectories() {
    directories += findings.subdirectories.reversed().map { ($0, true) }
    findings.subdirectories.removeAll()
  }

  /// Directories that have become the volume's own are next, and those that are seen again, with all below: they may
  /// have been gone through as what nobody sees. - Returns: Whether there are any.
  mutating func take(_ decided: (own: [NodeIndex], shown: [NodeIndex])) -> Bool {
    own.formUnion(decided.own)
    directories += decided.own.map { ($0, false) }
    if !decided.shown.isEmpty { walked = [] }
    directories += decided.shown.map { ($0, true) }
    return !decided.own.isEmpty || !decided.shown.isEmpty
  }

  mutating func fail(_ path: [UInt8], _ error: FSError) {
    failureCount += 1
    if failures.count < Self.failuresMax { failures.append((path, error)) }
  }
}
