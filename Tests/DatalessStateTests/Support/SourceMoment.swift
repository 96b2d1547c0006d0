import DatalessState
import TestSupport
import Testing

/// When SOURCE changes beneath a volume that somebody has looked into and changed, and what was looked into before.
enum SourceMoment: CaseIterable {
  case refresh, mounts, remountedAndRefresh, remountedAndLooked

  /// Lets it come.
  ///
  /// - Parameters:
  ///   - states: Where the volume is kept. Between two mounts nothing in it is damaged.
  ///   - looks: What is looked into after a remount, before SOURCE changes: all of it, or not. Default: all, or none.
  /// - Returns: The volume after that, refreshed or mounted again.
  func pass(
    _ volume: KeptVolume, _ states: StateCopies, source: Scratch,
    looks: (_ volume: KeptVolume, _ isAll: Bool) -> Void = { volume, isAll in if isAll { _ = volume.tree() } },
    _ change: () -> Void
  ) throws -> KeptVolume {
    var volume = volume
    if self != .refresh {
      try volume.unmount()
      let report = try states.next().check()
      #expect(report.damages == 0, "\(report.findings)")
      if self == .mounts { change() }
      volume = try KeptVolume(states.next(), source: source)
    }
    guard self != .mounts else { return volume }
    if self != .refresh { looks(volume, self == .remountedAndLooked) }
    change()
    volume.refresh()
    return volume
  }
}
