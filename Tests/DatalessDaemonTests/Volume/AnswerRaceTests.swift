@testable import DatalessCore
@testable import DatalessDaemon

import FuseKit
import Glibc
import Synchronization
import Testing

/// The real kernel, with answers held back on their way to it: a volume of the whole program shows such moments by chance only.
@Suite(
  .serialized, .timeLimit(.minutes(2)),
  .enabled(if: geteuid() == 0 && access("/dev/fuse", R_OK | W_OK) == 0, "mounts a volume as root"))
struct AnswerRaceTests {
  enum Change: CaseIterable { case materialized, evicted }
  enum Way: CaseIterable { case lookup, listing }

  /// The notification comes before the inode that it is about, and meets ENOENT: what the answer brings is wrong, and is told to
  /// be so once the kernel has it.
  @Test(arguments: Change.allCases, Way.allCases)
  func attributesThatChangeWhileTheirAnswerIsOnItsWayDoNotStay(change: Change, way: Way) throws {
    let served = try ServedVolume()
    let volume = served.volume
    try #require(ServedVolume.materialize(.root, volume))
    let node = try #require(served.engine.resolved("held"))
    if change == .evicted { try #require(ServedVolume.materialize(node, volume)) }
    let before = served.engine.attributes(of: node)?.attributes.blocks
    served.operations.meanwhile.withLock { action in
      action = { node in
        switch change {
        case .materialized: _ = ServedVolume.materialize(node, volume)
        case .evicted: _ = ServedVolume.evict(node, volume)
        }
      }
    }
    let list = way == .listing ? "ls -l '\(served.mountpoint)' > /dev/null; " : ""
    let wanted = change == .materialized ? "!= 0" : "= 0"
    let child = try ChildProcess(
      script: "\(list)until [ \"$(stat -c %b '\(served.mountpoint)/held')\" \(wanted) ]; do :; done; echo told")
    #expect(child.readLine() == "told")
    #expect(served.operations.meanwhile.withLock { $0 == nil }, "the answer was held")
    #expect((before == 0) == (change == .materialized))
  }

  /// What counts as given to the kernel is exactly what it gives back: too much would keep notifications coming for ever, too little
  /// would end them too early.
  @Test func whatTheKernelWasGivenItGivesBack() throws {
    let served = try ServedVolume(files: 1_500)
    let volume = served.mountpoint
    let child = try ChildProcess(
      script: "ls -l '\(volume)' | wc -l; stat '\(volume)/held' '\(volume)/file-7' '\(volume)/none' 2> /dev/null | wc -l")
    #expect(child.readLine() == "1502")
    _ = child.readLine()
    child.waitForExit()
    let nodes = served.engine.state.withLock { $0.catalog.inodes.count }
    func given() -> [UInt32] {
      served.engine.state.withLock { state in (2..<nodes).map { state.catalog.inodes[$0].lookups } }
    }
    #expect(given().count == 1_501 && given().allSatisfy { $0 > 0 })
    for name in ["held"] + (0..<1_500).map({ "file-\($0)" }) {
      _ = served.session.notifier.invalidateEntry(Array(name.utf8), in: .root)
    }
    let deadline = MonotonicTime.current + 30_000_000_000
    served.operations.forgotten.wait { _ in
      given().allSatisfy { $0 == 0 } || MonotonicTime.current > deadline ? .done(()) : .wait(until: deadline)
    }
    #expect(given().allSatisfy { $0 == 0 })
  }
}

extension Engine {
  /// The node of a path that is known.
  fileprivate func resolved(_ path: String) -> NodeID? {
    if case .found(let node) = resolve(Array(path.utf8)) { node } else { nil }
  }
}
