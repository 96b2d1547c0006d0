@testable import DatalessCore
@testable import DatalessDaemon

import FuseKit
import Glibc
import Synchronization
import Testing

/// The real kernel, with answers held back on their way to it: a volume of the whole program shows such moments by
/// chance only.
@Suite(
  .serialized, .timeLimit(.minutes(2)),
  .enabled(if: geteuid() == 0 && access("/dev/fuse", R_OK | W_OK) == 0, "mounts a volume as root"))
struct AnswerRaceTests {
  enum Change: CaseIterable { case materialized, evicted }
  enum Way: CaseIterable { case lookup, listing }

  /// The notification comes before the inode that it is about, and meets ENOENT: what the answer brings is wrong, and
  /// is told to be so once the kernel has it.
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

  /// What counts as given to the kernel is exactly what it gives back: too much would keep notifications coming for
  /// ever, too little would end them too early.
  @Test func whatTheKernelWasGivenItGivesBack() throws {
    let served = try ServedVolume(files: 1_500)
    let volume = served.mountpoint
    let child = try ChildProcess(script: "cd '\(volume)'; ls -l | wc -l; stat held file-7 none > /dev/null 2>&1")
    #expect(child.readLine() == "1502")
    child.waitForExit()
    func given() -> [UInt32] {
      served.engine.state.withLock { state in
        (2..<state.namespace.nodeEnd).map { state.namespace[NodeIndex(rawValue: $0)].lookups }
      }
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

  /// The open waits for the notifier, which waits for the kernel: a program that is killed meanwhile ends all the same.
  @Test func anOpenThatWaitsForItsEvictionCanBeKilled() throws {
    let served = try ServedVolume(scenario: #"{"rules":[{"name":"r","evict":{"before_first_read":true}}]}"#)
    let volume = served.volume
    try #require(ServedVolume.materialize(.root, volume))
    let node = try #require(served.engine.resolved("held"))
    try #require(ServedVolume.materialize(node, volume))
    let isFree = Monitor(false)
    // More than the notifier has threads, with those that it starts beside slow ones: the eviction's turn never comes.
    for number in 0..<40 {
      volume.kernel.invalidateContent(of: NodeID(rawValue: (1 << 40) + UInt64(number))) { _ in
        isFree.wait { $0 ? .done(()) : .wait(until: nil) }
      }
    }
    let child = try ChildProcess(script: "exec cat '\(served.mountpoint)/held'")
    served.operations.opened.wait { $0 > 0 ? .done(()) : .wait(until: nil) }
    kill(child.pid, SIGKILL)
    let deadline = MonotonicTime.current + 20_000_000_000
    var status: Int32 = 0
    while waitpid(child.pid, &status, WNOHANG) == 0, MonotonicTime.current < deadline { sched_yield() }
    #expect(MonotonicTime.current < deadline && status == SIGKILL)
    isFree.set(true)
    child.waitForExit()
  }
}

extension Engine {
  /// The node of a path that is known.
  fileprivate func resolved(_ path: String) -> NodeID? {
    if case .found(let node) = resolve(Array(path.utf8)) { node } else { nil }
  }
}
