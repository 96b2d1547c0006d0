/// What a directory of an app's data is for: what may be done to it when room is short, and whether a backup has it.
public enum AreaCategory: String, Sendable, Hashable, CaseIterable {
  /// What people made.
  case documents
  /// What the app cannot work without.
  case support
  /// What the app can make, or fetch, again.
  case caches
  /// What the app needs while it works.
  case temporary
  /// What could be fetched again, but is expected to be here without a network.
  case offline

  /// Whether a backup has it.
  public var isBackedUp: Bool { self == .documents || self == .support }
  /// Whether it may be purged when room is short.
  public var isPurged: Bool { self == .caches || self == .temporary }
  /// Whether it counts to the app's "Documents & Data".
  public var isCounted: Bool { !isPurged }
}

/// Why a file was purged: the word in the log.
public enum PurgeReason: String, Sendable, Hashable, CaseIterable {
  case temporary
  /// Of an app that does not run.
  case cache
}
