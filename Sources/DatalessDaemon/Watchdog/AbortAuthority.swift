import DatalessControl
import DatalessCore
import Glibc

/// Whom this volume may end: in `run` descendants of the command's parent, else what the scenario names and the
/// volume's own user owns. A neighbour can make himself a caller, and nobody else.
struct AbortAuthority: Sendable {
  /// Why a process gets no signal. The raw value is the word in the log.
  enum Refusal: String, Sendable, CaseIterable {
    /// The daemon itself, or `dataless run`.
    case ourselves = "dataless_itself"
    case notADescendant = "not_a_descendant"
    /// `apps` of the scenario names no processes.
    case notNamed = "not_named"
    case otherUser = "other_user"
    /// It is gone, or another process has its id, or it cannot be looked at.
    case unknownProcess = "unknown_process"
    /// Its wait has ended.
    case ended
  }

  struct Origin: Sendable {
    var pid: Int32
    /// nil when it could not be looked at: then nobody is known to descend from it.
    var startTicks: UInt64?
  }

  /// Whose descendants the callers of `dataless run` are.
  var root: Origin?
  var daemon: Int32 = getpid()
  var user: UInt32 = geteuid()
  var look: @Sendable (Int32) -> (parent: Int32, startTicks: UInt64)? = { pid in
    ProcessSnapshot(pid).map { ($0.parent, $0.startTicks) }
  }

  /// - Parameters:
  ///   - startTicks: Of the process that the log names.
  ///   - isNamed: Whether a condition of the scenario matched it.
  ///   - userIDs: The real, effective, saved and file system's user ids of the process; nil when they cannot be had.
  /// - Returns: nil when it may be ended.
  func refusal(pid: Int32, startTicks: UInt64?, isNamed: Bool, userIDs: () -> [UInt32]?) -> Refusal? {
    guard pid > 1, pid != daemon, pid != root?.pid else { return .ourselves }
    guard let startTicks, look(pid)?.startTicks == startTicks else { return .unknownProcess }
    if let root { return descends(pid, from: root) ? nil : .notADescendant }
    guard isNamed else { return .notNamed }
    guard let ids = userIDs(), ids.count == 4 else { return .unknownProcess }
    return ids.allSatisfy { $0 == user } ? nil : .otherUser
  }

  // LIMIT: a chain of ids that are given again while it is followed has no end.
  private static let linksMax = 10_000
  private static let triesMax = 3

  /// Whether each parent leads to the root. A parent may end meanwhile, and its child is another's from then on: then
  /// all is looked at again.
  private func descends(_ pid: Int32, from root: Origin) -> Bool {
    guard root.startTicks != nil else { return false }
    for _ in 0..<Self.triesMax {
      if let answer = follow(pid, to: root) { return answer }
    }
    return false
  }

  /// nil when a process on the way has changed its parent, or is gone.
  private func follow(_ pid: Int32, to root: Origin) -> Bool? {
    var child = pid
    guard var below = look(child) else { return nil }
    for _ in 0..<Self.linksMax {
      let parent = below.parent
      guard parent > 1 else { return false }
      guard let above = look(parent), above.startTicks <= below.startTicks else { return nil }
      // While it is still the child's parent, its id is nobody else's: what was read is of this parent.
      guard let again = look(child), again == (parent, below.startTicks) else { return nil }
      if parent == root.pid { return above.startTicks == root.startTicks }
      (child, below) = (parent, above)
    }
    return false
  }
}
