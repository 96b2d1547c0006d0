/// Lines of a log of which no record was made: they are none, or records of another version of the format.
public struct UnreadLines: Sendable, Equatable {
  /// All of them.
  public private(set) var count: Int
  /// How many of them are records of another version.
  public private(set) var ofOtherVersions = 0
  /// The version of the last of those; nil without one.
  public private(set) var version: Int64?

  /// - Parameter count: Lines that are no records of any version. Default: none.
  public init(count: Int = 0) { self.count = count }

  /// - Parameter line: One of which no record can be made.
  init(line: [UInt8]) {
    count = 1
    version = LogRecord.otherVersion(of: line)
    ofOtherVersions = version == nil ? 0 : 1
  }

  public mutating func add(_ lines: UnreadLines) {
    count += lines.count
    ofOtherVersions += lines.ofOtherVersions
    version = lines.version ?? version
  }

  /// Those that came after there were so many, of the same log.
  public func since(_ earlier: UnreadLines) -> UnreadLines {
    var lines = UnreadLines(count: count - earlier.count)
    lines.ofOtherVersions = ofOtherVersions - earlier.ofOtherVersions
    lines.version = lines.ofOtherVersions > 0 ? version : nil
    return lines
  }

  /// What there is to know about lines of another version, behind their number.
  public static func words(version: Int64) -> String {
    "of version \(version) of the format, which this version of dataless does not read: "
      + "use the one that wrote it, or newer"
  }

  /// `2 lines cannot be read`, with the version that they are of.
  static func unreadable(_ count: Int64, version: Int64?) -> String {
    "\(HumanText.count(count, "line")) cannot be read" + (version.map { ", \(words(version: $0))" } ?? "")
  }

  /// `1 line is no record; no record is missing`: of lines in whose place the numbers of the records leave no gap.
  public static func harmless(_ count: Int64) -> String {
    "\(HumanText.count(count, "line")) \(count == 1 ? "is no record" : "are no records"); no record is missing"
  }
}
