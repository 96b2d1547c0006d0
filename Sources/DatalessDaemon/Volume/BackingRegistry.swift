import DatalessCore
import FuseKit
import Synchronization
import SystemPackage

/// The backing files that are registered with the kernel: one for each node that is open for passthrough.
///
/// All passthrough opens of a node must name the same backing, so the first registers it and the last gives it up. The lock is
/// a leaf; two short ioctls run under it, because another open of the node must find the registration or not see it at all.
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

  /// Whether the kernel will not take a backing file from this daemon at all, so that asking again is a waste.
  private var isRefusedForGood: Bool {
    switch lastFailure {
    case .notPermitted, .inappropriateIOCTLForDevice, .notSupportedOnSocket, .tooManySymbolicLinkLevels: true
    default: false
    }
  }

  /// The backing for one more open of a node; nil when it cannot be had, and the open must be a cached one.
  func acquire(_ node: NodeID, _ engine: Engine, _ reference: ContentReference) -> BackingID? {
    guard let session = session.withLock({ $0 }), !isRefusedForGood else { return nil }
    return entries.withLock { entries in
      if let entry = entries[node] {
        entries[node]?.opens += 1
        return entry.backing
      }
      guard let backing = register(session, engine, reference) else { return nil }
      entries[node] = Entry(backing: backing, opens: 1)
      return backing
    }
  }

  /// One open less.
  func release(_ node: NodeID) {
    guard let session = session.withLock({ $0 }) else { return }
    entries.withLock { entries in
      guard let entry = entries[node] else { return }
      if entry.opens > 1 {
        entries[node]?.opens -= 1
      } else {
        entries[node] = nil
        try? session.unregisterBacking(entry.backing)
      }
    }
  }

  private func register(_ session: FuseSession, _ engine: Engine, _ reference: ContentReference) -> BackingID? {
    guard let raw = engine.openContentDescriptor(reference) else { return nil }
    let file = FileDescriptor(rawValue: raw)
    // The kernel holds the file by itself.
    defer { try? file.close() }
    do throws(Errno) {
      return try session.registerBacking(file)
    } catch {
      failure.store(error.rawValue, ordering: .relaxed)
      return nil
    }
  }
}
