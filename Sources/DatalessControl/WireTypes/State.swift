/// What `dataless check --json` prints: what a look at a state directory has brought.
public struct CheckAnswer: Codable, Sendable, Equatable {
  /// Absolute.
  public var directory: String
  public var directoryBase64: String?
  /// Whether nothing was changed.
  public var dryRun: Bool
  public var items: Int64
  public var names: Int64
  public var contents: Int64
  /// Bytes of content.
  public var bytes: Int64
  /// The first 10,000.
  public var findings: [CheckFinding]
  public var findingCount: Int64
  /// Findings that are more than a crash or a loss of power may leave.
  public var damageCount: Int64
  /// Findings that something is done about.
  public var repairCount: Int64

  enum CodingKeys: String, CodingKey {
    case directory, items, names, contents, bytes, findings
    case directoryBase64 = "directory_b64"
    case dryRun = "dry_run"
    case findingCount = "finding_count"
    case damageCount = "damage_count"
    case repairCount = "repair_count"
  }

  public init(
    directory: [UInt8], dryRun: Bool, items: Int64, names: Int64, contents: Int64, bytes: Int64,
    findings: [CheckFinding], findingCount: Int64, damageCount: Int64, repairCount: Int64
  ) {
    (self.directory, directoryBase64) = WirePath.split(directory)
    self.dryRun = dryRun
    self.items = items
    self.names = names
    self.contents = contents
    self.bytes = bytes
    self.findings = findings
    self.findingCount = findingCount
    self.damageCount = damageCount
    self.repairCount = repairCount
  }
}

/// Something in a state directory that is not as it should be.
public struct CheckFinding: Codable, Sendable, Equatable {
  /// A stable word, such as `lost_content`.
  public var kind: String
  /// What it is about.
  public var place: String
  /// What is wrong; lower case, no full stop.
  public var message: String
  /// What was done about it, or would be; absent: nothing.
  public var repair: String?
  /// Whether it is more than a crash or a loss of power may leave.
  public var isDamage: Bool

  enum CodingKeys: String, CodingKey {
    case kind, place, message, repair
    case isDamage = "damage"
  }

  public init(kind: String, place: String, message: String, repair: String?, isDamage: Bool) {
    self.kind = kind
    self.place = place
    self.message = message
    self.repair = repair
    self.isDamage = isDamage
  }
}

/// What `dataless export --json` prints: what was written below a directory, and what was not.
public struct ExportAnswer: Codable, Sendable, Equatable {
  /// The state directory; absolute.
  public var directory: String
  public var directoryBase64: String?
  /// Absolute.
  public var target: String
  public var targetBase64: String?
  public var files: Int64
  /// Bytes of files, holes included.
  public var bytes: Int64
  public var directories: Int64
  /// Symbolic links, and further names of files.
  public var links: Int64
  /// What was left out; the first 10,000.
  public var failures: [PathFailure]
  public var failureCount: Int64

  enum CodingKeys: String, CodingKey {
    case directory, target, files, bytes, directories, links, failures
    case directoryBase64 = "directory_b64"
    case targetBase64 = "target_b64"
    case failureCount = "failure_count"
  }

  public init(
    directory: [UInt8], target: [UInt8], files: Int64, bytes: Int64, directories: Int64, links: Int64,
    failures: [PathFailure], failureCount: Int64
  ) {
    (self.directory, directoryBase64) = WirePath.split(directory)
    (self.target, targetBase64) = WirePath.split(target)
    self.files = files
    self.bytes = bytes
    self.directories = directories
    self.links = links
    self.failures = failures
    self.failureCount = failureCount
  }
}

/// What `dataless restore --simulate --json` prints.
public struct RestoreAnswer: Codable, Sendable, Equatable {
  /// The older state; absolute.
  public var from: String
  public var fromBase64: String?
  /// The new state directory; absolute.
  public var directory: String
  public var directoryBase64: String?
  /// Files that a backup has, SOURCE's included.
  public var files: Int64
  public var bytes: Int64
  /// Of these, what programs had written: its content is here.
  public var writtenFiles: Int64
  public var writtenBytes: Int64
  /// What is absent, by reason.
  public var absent: [InventoryExclusion]
  /// What could not be left out, or looked into; the first 1,000.
  public var failures: [PathFailure]
  public var failureCount: Int64

  enum CodingKeys: String, CodingKey {
    case from, directory, files, bytes, absent, failures
    case fromBase64 = "from_b64"
    case directoryBase64 = "directory_b64"
    case writtenFiles = "written_files"
    case writtenBytes = "written_bytes"
    case failureCount = "failure_count"
  }

  public init(
    from: [UInt8], directory: [UInt8], files: Int64, bytes: Int64, writtenFiles: Int64, writtenBytes: Int64,
    absent: [InventoryExclusion], failures: [PathFailure], failureCount: Int64
  ) {
    (self.from, fromBase64) = WirePath.split(from)
    (self.directory, directoryBase64) = WirePath.split(directory)
    self.files = files
    self.bytes = bytes
    self.writtenFiles = writtenFiles
    self.writtenBytes = writtenBytes
    self.absent = absent
    self.failures = failures
    self.failureCount = failureCount
  }
}
