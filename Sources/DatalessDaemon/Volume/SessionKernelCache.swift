import DatalessCore
import FuseKit
import Synchronization
import SystemPackage

/// Tells the kernel what it may no longer use. Everything that can wait for the kernel runs on the notifier lane.
final class SessionKernelCache: KernelCache {
  private let lane: NotifierLane
  private let session = Mutex<(notifier: KernelNotifier, canDropAllNames: Bool)?>(nil)

  private let usesEpoch: Bool
  private let mounts: MountsBelow
  /// Whether names were not dropped because something was mounted: absent ones may be stale.
  private let isBehind = Atomic<Bool>(false)

  /// - Parameters:
  ///   - usesEpoch: Whether all names may be dropped at once, where the kernel can.
  ///   - mounts: What is mounted on the volume. As long as something is, names are told one by one, and looked up again
  ///     without being dropped: the kernel would detach it. What was absent before that may stay so for callers until a
  ///     listing of its directory tells of it.
  init(lane: NotifierLane, usesEpoch: Bool, mounts: MountsBelow) {
    self.lane = lane
    self.usesEpoch = usesEpoch
    self.mounts = mounts
  }

  /// Whether absent names may be kept by the kernel now, where it can be made to forget them.
  var mayKeepAbsence: Bool { !mounts.isAny }

  /// Whether the kernel can be made to look every name up again, absent ones included: FUSE_NOTIFY_INC_EPOCH, protocol
  /// 7.44 (Linux 6.16).
  func canForgetAbsence(_ features: NegotiatedFeatures) -> Bool {
    usesEpoch && (features.kernelMajor > 7 || (features.kernelMajor == 7 && features.kernelMinor >= 44))
  }

  /// Set once, before INIT is answered: until then the kernel has nothing to forget.
  func attach(_ notifier: KernelNotifier, _ features: NegotiatedFeatures) {
    session.withLock { $0 = (notifier, canForgetAbsence(features)) }
  }

  func invalidateAttributes(of node: NodeID) -> Bool {
    guard let notifier = session.withLock({ $0?.notifier }) else { return true }
    // Takes no lock in the kernel and cannot block (docs/ARCHITECTURE.md, R10), so it needs no lane.
    return notifier.invalidateAttributes(FuseNode(node)) != .noSuchFileOrDirectory
  }

  func expireNames() {
    guard let session = session.withLock({ $0 }), session.canDropAllNames else { return }
    guard !mounts.isAny else { return isBehind.store(true, ordering: .relaxed) }
    isBehind.store(false, ordering: .relaxed)
    _ = session.notifier.expireAllEntries()
  }

  func invalidateContent(of node: NodeID, completion: @escaping @Sendable (_ isKnown: Bool) -> Void) {
    lane.submit { [self] in
      var isKnown = true
      if let notifier = session.withLock({ $0?.notifier }) {
        isKnown = notifier.invalidateContent(FuseNode(node)) != .noSuchFileOrDirectory
      }
      completion(isKnown)
    }
  }

  func catchUp() {
    if isBehind.load(ordering: .relaxed), !mounts.isAny { expireNames() }
  }

  func dropName(_ name: [UInt8], of directory: NodeID) {
    lane.submit { [self] in
      guard let notifier = session.withLock({ $0?.notifier }) else { return }
      _ = notifier.invalidateEntry(name, in: FuseNode(directory))
    }
  }

  func invalidateDirectory(
    _ node: NodeID, names: @escaping @Sendable () -> [[UInt8]], completion: @escaping @Sendable () -> Void
  ) {
    lane.submit { [self] in
      if let (notifier, canDropAllNames) = session.withLock({ $0 }) {
        if mounts.isAny {
          isBehind.store(true, ordering: .relaxed)
          for name in names() { _ = notifier.expireEntry(name, in: FuseNode(node)) }
        } else if canDropAllNames {
          _ = notifier.expireAllEntries()
        } else {
          for name in names() { _ = notifier.invalidateEntry(name, in: FuseNode(node)) }
        }
        _ = notifier.invalidateContent(FuseNode(node))
      }
      completion()
    }
  }
}
