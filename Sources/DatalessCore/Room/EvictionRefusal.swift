public import SystemPackage

/// Why an item was not evicted.
public struct EvictionRefusal: Error, Sendable {
  /// The word for it, in the log and in answers.
  public enum Reason: String, Sendable, CaseIterable {
    /// Somebody has it open.
    case open
    /// A process still maps what it had open.
    case mapped
    /// The file has several names (hard links).
    case severalNames = "several_names"
    /// It was written to on the volume, and is nowhere else.
    case dirty
    /// It was made on the volume, or the store has it no more.
    case own
    /// Its content policy, or that of a directory above, keeps it.
    case pinned
    /// A directory: something in it is local, or was changed on the volume.
    case children
    /// It is being fetched.
    case inFlight = "in_flight"
    /// The kernel still drops pages of an earlier eviction.
    case dropping
  }

  public let reason: Reason
  /// What is wrong; lower case, no full stop.
  public let message: String

  init(_ reason: Reason, _ message: String) {
    self.reason = reason
    self.message = message
  }

  /// EMLINK for several names, EPERM for what a policy keeps, else EBUSY.
  public var errno: Errno {
    switch reason {
    case .severalNames: .tooManyLinks
    case .pinned: .notPermitted
    case .open, .mapped, .dirty, .own, .children, .inFlight, .dropping: .resourceBusy
    }
  }

  public var error: FSError { FSError(errno, message) }
}
