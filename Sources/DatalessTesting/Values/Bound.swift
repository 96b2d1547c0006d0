import FoundationEssentials

/// Something that is expected of the programs on a volume (docs/EXPECTATIONS.md).
public struct Bound: Sendable, Hashable {
  /// Options of `dataless check-log`.
  let words: [String]

  private init(_ option: String, _ value: String? = nil) { words = ["--" + option] + (value.map { [$0] } ?? []) }

  /// At most so many files are materialized; 0 or more.
  public static func maxFiles(_ count: Int) -> Bound { Bound("max-files", "\(count)") }
  /// At most so many bytes are materialized; 0 or more.
  public static func maxBytes(_ count: Int) -> Bound { Bound("max-bytes", "\(count)") }
  /// At most so many directories are listed; 0 or more.
  public static func maxDirectories(_ count: Int) -> Bound { Bound("max-dirs", "\(count)") }
  /// No caller is blocked for longer.
  public static func maxWait(_ time: Duration) -> Bound { Bound("max-wait", time.words) }
  /// No main thread is blocked for longer at once.
  public static func maxMainThread(_ time: Duration) -> Bound { Bound("max-main-thread", time.words) }
  /// At most so many files are fetched of which at most 5 % is read; 0 or more. Has every read recorded.
  public static func maxNeedless(_ count: Int) -> Bound { Bound("max-needless", "\(count)") }
  /// Policy refuses a caller at most so often; 0 or more.
  public static func maxRefusals(_ count: Int) -> Bound { Bound("max-refusals", "\(count)") }
  /// One process has at most so many files in flight at any moment; 1 or more.
  public static func maxParallel(_ count: Int) -> Bound { Bound("max-parallel", "\(count)") }
  /// One process has at least so many files in flight on average, such as 1.5.
  public static func minParallel(_ count: Double) -> Bound { Bound("min-parallel", "\(count)") }
  /// Files are materialized again at most so often; 0 or more.
  public static func maxRepeated(_ count: Int) -> Bound { Bound("max-repeated", "\(count)") }
  /// One process waits for at most so many files one after the other; 1 or more.
  public static func maxSerialWaits(_ count: Int) -> Bound { Bound("max-serial-waits", "\(count)") }
  /// No lookup blocks of which nothing is opened, listed or changed afterwards. Has every read recorded.
  public static let forbidUnneededBlocking = Bound("forbid-unneeded-blocking")
  /// At most so many files are written to while another process has them open, without a lock or an intent; 0 or more.
  /// Has every read recorded.
  public static func maxTogether(_ count: Int) -> Bound { Bound("max-together", "\(count)") }
  /// Nothing that the glob matches is materialized.
  public static func forbid(_ glob: String) -> Bound { Bound("forbid", glob) }
  /// Nothing is materialized but what a glob of these matches.
  public static func allow(_ glob: String) -> Bound { Bound("allow", glob) }
  /// What is materialized is what the file names. With DATALESS_UPDATE_BASELINE in the environment the file is written.
  public static func baseline(_ file: String) -> Bound { Bound("baseline", file) }

  var isBaseline: Bool { words.first == "--baseline" }
  /// Whether it takes a record of every open.
  var asksForReads: Bool {
    ["--max-needless", "--forbid-unneeded-blocking", "--max-together"].contains(words.first ?? "")
  }

  /// Options of `dataless check-log` for all of them.
  static func options(_ bounds: [Bound], environment: [String: String]) -> [String] {
    let isNew = bounds.contains(where: \.isBaseline) && environment["DATALESS_UPDATE_BASELINE"]?.isEmpty == false
    return bounds.flatMap(\.words) + (isNew ? ["--update-baseline"] : [])
  }
}

extension Duration {
  /// As scenarios and options have it, to the microsecond: `200ms`, `1500us`. What is negative is 0.
  var words: String {
    let microseconds = max(0, Int64(self / .microseconds(1)))
    return microseconds % 1000 == 0 ? "\(microseconds / 1000)ms" : "\(microseconds)us"
  }
}
