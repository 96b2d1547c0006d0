import DatalessCore
import Testing

@testable import DatalessDaemon

@Suite struct ProcessTableStateTests {
  private func newcomer(pid: Int32, start: UInt64, exe: String = "/bin/a") -> ProcessTableState.Newcomer {
    ProcessTableState.Newcomer(
      look: ProcessSnapshot(
        pid: pid, parent: 1, startTicks: start, comm: [65], executable: .path(Array(exe.utf8))),
      uid: 0, gid: 0, cgroup: nil, seen: MonotonicTime(nanoseconds: 0))
  }

  @Test func aReusedPidIsAnotherProcess() {
    var state = ProcessTableState(capacity: 10)
    let first = newcomer(pid: 7, start: 100)
    let record = state.add(first, below: nil)
    #expect(state.current(first.look) === record)
    #expect(state.current(newcomer(pid: 7, start: 101).look) == nil)
    #expect(state.current(newcomer(pid: 7, start: 100, exe: "/bin/b").look) == nil)
    state.remember(8, startTicks: 100, record: record)
    #expect(state.remembered(8, startTicks: 100) === record)
    #expect(state.remembered(8, startTicks: 101) == nil)
  }

  @Test func aRemovedExecutableIsTheSameProcess() {
    var state = ProcessTableState(capacity: 10)
    let record = state.add(newcomer(pid: 7, start: 100), below: nil)
    #expect(state.current(newcomer(pid: 7, start: 100, exe: "/bin/a (deleted)").look) === record)
    var ending = newcomer(pid: 7, start: 100)
    ending.look.executable = .unavailable(.exited)
    #expect(state.current(ending.look) === record)
    ending.look.executable = .unavailable(.permission)
    #expect(state.current(ending.look) == nil)
  }

  @Test func theOldestIsForgottenAndComesBackWithANewID() {
    var state = ProcessTableState(capacity: 3)
    let records = (1...4).map { state.add(newcomer(pid: $0, start: 5), below: nil) }
    state.remember(1, startTicks: 5, record: records[0])
    #expect(records.map(\.id.rawValue) == [1, 2, 3, 4])
    #expect(state.record(records[0].id) == nil)
    #expect(state.record(records[1].id) === records[1])
    #expect(state.record(ProcessID(rawValue: 5)) == nil)
    #expect(state.record(.unknown) == nil)
    #expect(state.current(newcomer(pid: 1, start: 5).look) == nil)
    #expect(state.remembered(1, startTicks: 5) == nil)
    #expect(state.add(newcomer(pid: 1, start: 5), below: nil).id.rawValue == 5)
  }

  @Test func ancestorsAreBounded() {
    var state = ProcessTableState(capacity: 100)
    var parent: ProcessRecord?
    for pid in 1...50 { parent = state.add(newcomer(pid: Int32(pid), start: 5), below: parent) }
    #expect(parent?.parents.map(\.rawValue) == (18...49).reversed())
  }

  @Test func anExecKeepsTheBudget() {
    var state = ProcessTableState(capacity: 100)
    state.setBudgetRoot(pid: 1, startTicks: 5)
    let root = state.add(newcomer(pid: 1, start: 5), below: nil)
    let child = state.add(newcomer(pid: 2, start: 6), below: root)
    #expect(!root.isBudgeted)
    #expect(child.isBudgeted)
    // Meanwhile adopted by another process.
    #expect(state.add(newcomer(pid: 2, start: 6, exe: "/bin/b"), below: nil).isBudgeted)
    // A reused pid inherits nothing.
    #expect(!state.add(newcomer(pid: 2, start: 7), below: nil).isBudgeted)
  }

  /// It works for somebody, and nobody knows for whom.
  @Test func aThreadOfTheKernelIsBudgeted() {
    var state = ProcessTableState(capacity: 100)
    var look = newcomer(pid: 2, start: 1)
    look.look.executable = .unavailable(.kernelThread)
    let parent = state.add(look, below: nil)
    #expect(!parent.isBudgeted)
    state.setBudgetRoot(pid: 9, startTicks: 5)
    #expect(parent.isBudgeted)
    (look.look.pid, look.look.startTicks) = (50, 2)
    #expect(state.add(look, below: parent).isBudgeted)
    #expect(!state.add(newcomer(pid: 60, start: 5), below: nil).isBudgeted)
  }
}
