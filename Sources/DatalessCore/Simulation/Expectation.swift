/// What is expected of the programs that use a volume: a bound for what they do, or paths that they leave alone.
///
/// Nothing on the way of a request asks for it: it is held against the event log.
public struct Expectation: Sendable, Equatable {
  /// What is bounded, by its name in scenario files.
  public enum Measure: String, Sendable, CaseIterable {
    /// Files of which content became local.
    case maxFiles = "max_files"
    case maxBytes = "max_bytes"
    /// Directories that were listed.
    case maxDirectories = "max_dirs"
    /// The longest that one caller was blocked, in nanoseconds; of main threads only.
    case maxWait = "max_wait"
    case maxMainThread = "max_main_thread"
    /// Files that were fetched, and of which hardly anything was read.
    case maxNeedless = "max_needless"
    case maxRefusals = "max_refusals"
    /// Attempts of one process in flight at the same time: the most at any moment, and the least on average, in
    /// hundredths.
    case maxParallel = "max_parallel"
    case minParallel = "min_parallel"
    /// How often one item was materialized again after its eviction.
    case maxRepeated = "max_repeated"
    /// Files that one process waited for one after the other.
    case maxSerialWaits = "max_serial_waits"
    /// Lookups that blocked, and that nothing followed: none.
    case forbidUnneededBlocking = "forbid_unneeded_blocking"
    /// Files that one process wrote while another one had them open, without a lock or an intent.
    case maxTogether = "max_together"
    /// Paths for which nobody may ask.
    case forbid
    /// Paths of which all others are forbidden.
    case allow
    /// Paths that a file lists; all others are forbidden. Not in scenario files.
    case baseline
  }

  /// Unique: that of the scenario's entry and the measure, `thumbnails.max_wait`; of an option the measure alone.
  public var name: String
  public var measure: Measure
  /// In the measure's unit, 0 or more; 0 for paths.
  public var bound: Int64
  /// Of `forbid` and `allow`: one of them must match.
  public var paths: [PathPattern]
  /// To what it applies: `paths`, `size`, `kind`, `triggers`, `process` and `ancestor`; the rest is not looked at.
  public var match: RuleMatch
  /// Where it was written, as `FILE:LINE:COLUMN`; nil for an option.
  public var place: String?

  public init(
    name: String, measure: Measure, bound: Int64 = 0, paths: [PathPattern] = [], match: RuleMatch = RuleMatch(),
    place: String? = nil
  ) {
    self.name = name
    self.measure = measure
    self.bound = bound
    self.paths = paths
    self.match = match
    self.place = place
  }

  /// An option of the command line: named as its measure.
  public init(_ measure: Measure, _ bound: Int64) {
    self.init(name: measure.rawValue, measure: measure, bound: bound)
  }

  /// The same for paths.
  public init(_ measure: Measure, paths: [PathPattern]) {
    self.init(name: measure.rawValue, measure: measure, paths: paths)
  }
}

extension Expectation {
  /// `1.5` as 150.
  ///
  /// - Returns: nil for what is no number from 1 to 1,000,000 with at most two decimals.
  public static func hundredths(_ text: String) -> Int64? {
    guard let number = try? DecimalNumber(parsing: text, what: "number", expected: "1.5"), number.unit.isEmpty,
      number.fractionDigits <= 2, let value = number.scaled(by: 100), (100...100_000_000).contains(value)
    else { return nil }
    return value
  }
}
