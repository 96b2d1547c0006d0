/// What `dataless doctor --json` prints: what this machine grants to this user.
public struct DoctorAnswer: Codable, Sendable, Equatable {
  /// uname(2)'s release.
  public var kernel: String
  /// The version of the libfuse that is loaded.
  public var libfuse: String
  /// The version of this program.
  public var version: String
  /// The user who asked: what is granted differs by user.
  public var userID: UInt32
  /// Whether volumes can be mounted; seen by mounting one.
  public var mounts: Bool
  /// In the order in which they were looked at.
  public var checks: [DoctorCheck]

  enum CodingKeys: String, CodingKey {
    case kernel, libfuse, version, mounts, checks
    case userID = "uid"
  }

  public init(
    kernel: String, libfuse: String, version: String, userID: UInt32, mounts: Bool, checks: [DoctorCheck]
  ) {
    self.kernel = kernel
    self.libfuse = libfuse
    self.version = version
    self.userID = userID
    self.mounts = mounts
    self.checks = checks
  }
}

/// One thing that was looked at.
public struct DoctorCheck: Codable, Sendable, Equatable {
  public enum Outcome: String, Codable, Sendable, CaseIterable {
    case ok
    /// Volumes work, and something of them does not, or is slower.
    case limited
    /// No volume can be mounted before this is mended.
    case missing
    /// It could not be found out.
    case unknown
  }

  /// Lower case with underscores; names stay what they are.
  public var name: String
  public var outcome: Outcome
  /// What was found, one sentence.
  public var finding: String
  /// What to do; absent where nothing is to be done.
  public var remedy: String?

  public init(_ name: String, _ outcome: Outcome, finding: String, remedy: String? = nil) {
    self.name = name
    self.outcome = outcome
    self.finding = finding
    self.remedy = remedy
  }
}
