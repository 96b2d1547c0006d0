import DatalessCore
import FuseKit
import Synchronization
import SystemPackage

/// The backing files that are registered with the kernel: one for each node that is open for passthrough.
///
/// All passthrough opens of a node must name the same backing, so the first registers it and the last gives it up. The
/// lock is a leaf; the disk and the kernel are asked outside it, and of two that register at once the second gives its
/// own up.
final class BackingRegistry: Sendable {
  private struct Entry {
    let backing: BackingID
    var opens: Int
  }

  private let entries = Mutex<[NodeID: Entry]>([:])
  private let session = Mutex<FuseSession?>(nil)
  private let failure = Atomic<Int32>(0)

  func attach(_ session: FuseSession) { self.session.withLock { $0 = session } }

  /// The errno of the last registration that failed; nil when none did. EPERM: no CAP_SYS_ADMIN.
  var lastFailure: Errno? {
    let number = failure.load(ordering: .relaxed)
    return number == 0 ? nil : Errno(rawValue: number)
  }

  /// The backing for one more open of a node; nil when it cannot be had, and the open must be a cached one.
  func acquire(_ node: NodeID, engine: Engine, reference: ContentID) -> BackingID? {
    if let known = join(node, nil) { return known }
    guard let session = session.withLock({ $0 }), let made = register(session, engine: engine, reference: reference)
    else { return nil }
    guard let shared = join(node, made), shared != made else { return made }
    try? session.unregisterBacking(made)
    return shared
  }

  /// Counts one more open of a node that has a backing; gives it `made` if it has none.
  private func join(_ node: NodeID, _ made: BackingID?) -> BackingID? {
    entries.withLock { entries in
      if let entry = entries[node] {
        entries[node]?.opens += 1
        return entry.backing
      }
      if let made { entries[node] = Entry(backing: made, opens: 1) }
      return made
    }
  }

  /// One open less.
  func release(_ node: NodeID) {
    let last: BackingID? = entries.withLock { entries in
      guard let entry = entries[node] else { return nil }
      entries[node] = entry.opens > 1 ? Entry(backing: entry.backing, opens: entry.opens - 1) : nil
      return entry.opens > 1 ? nil : entry.backing
    }
    if let last { try? session.withLock { $0 }?.unregisterBacking(last) }
  }

  private func register(_ session: FuseSession, engine: Engine, reference: ContentID) -> BackingID? {
    guard let raw = engine.openContentDescriptor(reference) else { return nil }
    let file = FileDescriptor(rawValue: raw)
    // The kernel holds the file by itself.
    defer { try? file.close() }
    do throws(Errno) {
      return try session.registerBacking(file)
    } catch {
      failure.store(error.rawValue, ordering: .relaxed)
      // No privilege, no such ioctl, no passthrough for this kernel or for the cache's file system: it stays so.
      switch error {
      case .notPermitted, .inappropriateIOCTLForDevice, .notSupportedOnSocket, .tooManySymbolicLinkLevels:
        engine.withdrawPassthrough()
      default: break
      }
      return nil
    }
  }
}
