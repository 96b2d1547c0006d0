import DatalessCore
import Glibc
import Testing

@testable import DatalessDaemon

@Suite struct ProcessTableTests {
  @Test func aChildIsIdentifiedWithItsAncestors() throws {
    let fixture = ProcessFixture()
    let child = try ChildProcess(["/bin/cat"])
    child.send("x\n")
    #expect(child.readLine() == "x")
    let caller = fixture.caller(child.pid)
    #expect(caller.pid == child.pid)
    #expect(caller.threadID == child.pid)
    #expect(caller.isMainThread)
    #expect(caller.uid == 11 && caller.gid == 12)
    let record = try #require(fixture.record(caller))
    #expect(record.comm.map { String(decoding: $0, as: UTF8.self) } == "cat")
    #expect(record.exe.map { String(decoding: $0, as: UTF8.self) }?.hasSuffix("/cat") == true)
    #expect(record.uid == geteuid() && record.gid == getegid())
    #expect(record.cgroup?.first == UInt8(ascii: "/"))
    #expect(record.startTicks == ProcessTable.startTicks(of: child.pid))
    let parents = record.parents.compactMap { fixture.table.info($0) }
    #expect(parents.first?.pid == getpid())
    #expect(parents.count == record.parents.count)
    #expect(fixture.arguments(record.id) == .known([Array("/bin/cat".utf8)], isTruncated: false))
    // Ancestors are told first, each once.
    let seen = fixture.sink.seen.values.map(\.id)
    #expect(seen == record.parents.reversed() + [record.id])
    #expect(fixture.caller(child.pid).process == caller.process)
    #expect(fixture.sink.seen.values.count == seen.count)
  }

  /// A shell with code in its arguments, and a child of it.
  private func family() throws -> (parent: ChildProcess, child: Int32) {
    // Before exec the child is a shell like its parent.
    let isThere = #"until [ "$(tr -d '\0' < /proc/$!/cmdline)" = sleep1000 ]; do :; done"#
    let parent = try ChildProcess(script: ": SECRET; sleep 1000 & \(isThere); echo $!; read line")
    return (parent, try #require(parent.readLine().flatMap { Int32($0) }))
  }

  @Test(arguments: ArgumentPolicy.allCases)
  func argumentsOfAncestorsAreTheirOwn(policy: ArgumentPolicy) throws {
    let fixture = ProcessFixture(policy: policy)
    let (parent, child) = try family()
    defer { kill(child, SIGKILL) }
    let caller = try #require(fixture.record(fixture.caller(child)))
    let ancestor = try #require(caller.parents.first.flatMap { fixture.table.info($0) })
    #expect(ancestor.pid == parent.pid)
    guard policy != .none else {
      #expect(caller.arguments == .withheld(script: nil) && ancestor.arguments == .withheld(script: nil))
      _ = fixture.caller(parent.pid)
      #expect(ancestor.arguments == .withheld(script: nil))
      return
    }
    #expect(fixture.arguments(caller.id) == .known([Array("sleep".utf8), Array("1000".utf8)], isTruncated: false))
    let isKept = fixture.arguments(ancestor.id) != .withheld(script: nil)
    #expect(isKept == (policy == .all))
  }

  /// Which is told again, with the same number and now with its arguments; being asked about is not calling.
  @Test func anAncestorThatCallsIsACaller() throws {
    let fixture = ProcessFixture()
    let (parent, child) = try family()
    defer { kill(child, SIGKILL) }
    let caller = fixture.caller(child)
    let id = try #require(fixture.record(caller)?.parents.first)
    #expect(fixture.arguments(id) == .withheld(script: nil))
    #expect(fixture.table.inspect(parent.pid)?.record.id == id)
    #expect(fixture.table.info(id)?.arguments == .withheld(script: nil))
    let seen = fixture.sink.seen.values.count
    #expect(fixture.caller(parent.pid).process == id)
    #expect(fixture.sink.seen.values.dropFirst(seen).map(\.id) == [id])
    guard case .known(let list, _) = fixture.knownArguments(id) else {
      Issue.record("the arguments of a caller are not known")
      return
    }
    #expect(list.count == 3)
    _ = fixture.caller(parent.pid)
    #expect(fixture.sink.seen.values.count == seen + 1)
  }

  @Test func threadsBelongToTheirProcess() throws {
    let fixture = ProcessFixture()
    let thread = TestSignal<Int32>()
    let release = TestSignal<Void>()
    LaneThread.startOrTrap(name: "a-thread") {
      thread.send(LaneThread.currentThreadID ?? 0)
      _ = release.wait(seconds: 120)
    }
    defer { release.send() }
    let id = try #require(thread.wait()?.first)
    for _ in 0..<2 {
      let caller = fixture.caller(id)
      #expect(caller.threadID == id && caller.pid == getpid())
      #expect(!caller.isMainThread)
      let main = fixture.caller(getpid())
      #expect(main.isMainThread)
      #expect(main.process == caller.process)
    }
  }

  @Test func anExecGivesANewID() throws {
    let fixture = ProcessFixture()
    let child = try ChildProcess(script: "echo ready; read line; exec cat")
    #expect(child.readLine() == "ready")
    let before = fixture.caller(child.pid)
    child.send("go\nhello\n")
    #expect(child.readLine() == "hello")
    let after = fixture.caller(child.pid)
    #expect(before.pid == after.pid)
    #expect(before.process != after.process)
    let old = try #require(fixture.record(before))
    let new = try #require(fixture.record(after))
    #expect(old.startTicks == new.startTicks)
    #expect(old.exe != new.exe)
    #expect(old.parents == new.parents)
    #expect(fixture.arguments(new.id) == .known([Array("cat".utf8)], isTruncated: false))
  }

  /// Whoever has an intent may have become another program since it asked.
  @Test func whatAProcessHasBecomeIsSeen() throws {
    let fixture = ProcessFixture()
    let child = try ChildProcess(script: "echo ready; read line; exec cat")
    #expect(child.readLine() == "ready")
    let caller = fixture.caller(child.pid)
    #expect(fixture.table.successor(of: caller.process) == nil)
    child.send("go\nx\n")
    #expect(child.readLine() == "x")
    let seen = fixture.sink.seen.values.count
    let now = try #require(fixture.table.successor(of: caller.process))
    #expect(now.comm == Array("cat".utf8) && now.pid == child.pid)
    // The log is told nothing: nobody has called.
    #expect(fixture.sink.seen.values.count == seen)
    kill(child.pid, SIGKILL)
    child.waitForExit()
    #expect(fixture.table.successor(of: caller.process) == nil)
  }

  /// From its third call on a thread is known by a descriptor, which must not outlive exec or death.
  @Test func aFrequentCallerThatExecutesIsAnother() throws {
    let fixture = ProcessFixture()
    let child = try ChildProcess(script: "echo ready; read line; exec cat")
    #expect(child.readLine() == "ready")
    let before = (0..<6).map { _ in fixture.caller(child.pid).process }
    #expect(Set(before).count == 1)
    child.send("go\nhello\n")
    #expect(child.readLine() == "hello")
    let after = (0..<6).map { _ in fixture.caller(child.pid).process }
    #expect(Set(after).count == 1)
    #expect(after[0] != before[0])
  }

  @Test func aPinEndsWithItsThread() throws {
    let fixture = ProcessFixture()
    let child = try ChildProcess(script: "echo ready; read line")
    #expect(child.readLine() == "ready")
    let record = try #require(fixture.record(fixture.caller(child.pid)))
    let pin = try #require(ThreadIdentityPin(threadID: child.pid, record: record))
    #expect(pin.isSame())
    child.closeInput()
    child.waitForExit()
    #expect(!pin.isSame())
    #expect(ThreadIdentityPin(threadID: child.pid, record: record) == nil)
  }

  @Test func anOrphanDescendsFromWhoAdoptedIt() throws {
    let fixture = ProcessFixture()
    let start: UInt64 = try #require(ProcessTable.startTicks(of: getpid()))
    fixture.table.setBudgetRoot(pid: getpid(), startTicks: start)
    // The middle shell waits for a line, so that the grandchild can be seen below it first; the other one is seen
    // after.
    let child = try ChildProcess(
      script: "exec 3<&0; (sh -c 'echo $$; exec cat <&3' & sh -c 'echo $$; exec cat <&3' & read line; exit 0); cat")
    let first = try #require(child.readLine().flatMap { Int32($0) })
    let second = try #require(child.readLine().flatMap { Int32($0) })
    defer {
      kill(first, SIGKILL)
      kill(second, SIGKILL)
    }
    let caller = fixture.caller(first)
    #expect(caller.isBudgeted)
    kill(child.pid, SIGKILL)
    child.waitForExit()
    #expect(fixture.caller(first).isBudgeted)
    #expect(fixture.caller(second).pid == second)
  }

  /// Between two looks the parent may end, and its pid become another's: who started later than the child is not its
  /// parent.
  @Test func aParentThatStartedAfterItsChildIsAnotherProcess() throws {
    let child = try ChildProcess(["/bin/cat"])
    child.send("x\n")
    #expect(child.readLine() == "x")
    let start = try #require(ProcessTable.startTicks(of: child.pid))
    for (parentStart, parents) in [(start - 1, 1), (start, 1), (start + 1, 0)] {
      let fixture = ProcessFixture { [pid = child.pid] in
        guard $0 != pid else { return ProcessSnapshot(pid) }
        guard $0 == getpid() else { return nil }
        return ProcessSnapshot(
          pid: $0, parent: 1, startTicks: parentStart, comm: [65], executable: .path(Array("/bin/other".utf8)))
      }
      let record = try #require(fixture.record(fixture.caller(child.pid)))
      #expect(record.pid == child.pid)
      #expect(record.parents.count == parents, "the parent started \(Int64(parentStart) - Int64(start)) ticks later")
    }
  }

  @Test func onlyDescendantsOfTheRootAreBudgeted() throws {
    let fixture = ProcessFixture()
    let child = try ChildProcess(script: "exec 3<&0; cat <&3 & echo $!; cat")
    let grandchild = try #require(child.readLine().flatMap { Int32($0) })
    defer { kill(grandchild, SIGKILL) }
    // Seen before the root is named: judged by the ancestors it had.
    let early = try ChildProcess(["/bin/cat"])
    #expect(!fixture.caller(early.pid).isBudgeted)
    #expect(!fixture.caller(child.pid).isBudgeted)
    let start: UInt64 = try #require(ProcessTable.startTicks(of: child.pid))
    fixture.table.setBudgetRoot(pid: child.pid, startTicks: start)
    #expect(!fixture.caller(child.pid).isBudgeted)
    #expect(!fixture.caller(early.pid).isBudgeted)
    #expect(!fixture.caller(getpid()).isBudgeted)
    #expect(fixture.caller(grandchild).isBudgeted)
    fixture.table.setBudgetRoot(pid: child.pid, startTicks: 1)
    #expect(!fixture.caller(grandchild).isBudgeted)
  }

  /// A process that nobody knows anything of, or whose ancestors end in the middle, may descend from the root.
  @Test func whoMayDescendFromTheRootIsBudgeted() throws {
    let child = try ChildProcess(["/bin/cat"])
    child.send("x\n")
    #expect(child.readLine() == "x")
    /// A chain of so many ancestors above the child, up to the first process, or broken off there.
    func isBudgeted(ancestors: Int32, isWhole: Bool, root: (pid: Int32, startTicks: UInt64?)? = (77, 5)) -> Bool {
      let fixture = ProcessFixture { [pid = child.pid] asked in
        guard let look = ProcessSnapshot(pid) else { return nil }
        if asked == pid {
          return ProcessSnapshot(
            pid: pid, parent: 10_001, startTicks: look.startTicks, comm: [65], executable: look.executable)
        }
        guard (10_001...(10_000 + ancestors)).contains(asked) else { return nil }
        let parent = asked < 10_000 + ancestors ? asked + 1 : isWhole ? 0 : asked + 1
        return ProcessSnapshot(
          pid: asked, parent: parent, startTicks: 1, comm: [65], executable: .path(Array("/bin/other".utf8)))
      }
      if let root { fixture.table.setBudgetRoot(pid: root.pid, startTicks: root.startTicks) }
      let isBudgeted = fixture.caller(child.pid).isBudgeted
      // Named late, or in time.
      let late = ProcessFixture { fixture.look($0) }
      #expect(!late.caller(child.pid).isBudgeted)
      if let root { late.table.setBudgetRoot(pid: root.pid, startTicks: root.startTicks) }
      #expect(late.caller(child.pid).isBudgeted == isBudgeted)
      return isBudgeted
    }
    #expect(!isBudgeted(ancestors: 5, isWhole: true))
    #expect(isBudgeted(ancestors: 5, isWhole: false))
    #expect(!isBudgeted(ancestors: 32, isWhole: true))
    #expect(isBudgeted(ancestors: 33, isWhole: true), "more than are followed")
    #expect(isBudgeted(ancestors: 5, isWhole: true, root: (10_003, 1)))
    #expect(isBudgeted(ancestors: 5, isWhole: true, root: (77, nil)), "the root cannot be seen")
    #expect(!isBudgeted(ancestors: 5, isWhole: false, root: nil))
  }

  @Test func whoCannotBeLookedAtIsBudgeted() throws {
    let fixture = ProcessFixture()
    let child = try ChildProcess(["/bin/cat"])
    child.closeInput()
    child.waitForExit()
    #expect(!fixture.caller(0).isBudgeted && !fixture.caller(child.pid).isBudgeted)
    fixture.table.setBudgetRoot(pid: getpid(), startTicks: 1)
    #expect(fixture.caller(0).isBudgeted, "of another pid namespace")
    #expect(fixture.caller(child.pid).isBudgeted, "it has ended")
    #expect(fixture.table.caller(threadID: 0, uid: 99, gid: 99).isBudgeted)
  }

  @Test func whatCannotBeReadSaysWhy() throws {
    let fixture = ProcessFixture()
    let foreign = fixture.caller(0)
    #expect(foreign.pid == 0 && foreign.threadID == 0)
    #expect(fixture.record(foreign)?.executable == .unavailable(.pidNamespace))
    #expect(fixture.caller(0).process == foreign.process)
    #expect(fixture.table.caller(threadID: 0, uid: 99, gid: 12).process != foreign.process)
    let child = try ChildProcess(["/bin/true"])
    child.waitForExit()
    let gone = fixture.caller(child.pid)
    #expect(gone.pid == 0 && gone.threadID == child.pid)
    #expect(fixture.record(gone)?.executable == .unavailable(.exited))
    #expect(fixture.record(gone)?.pid == nil)
    // 2 is the kernel's thread daemon; where it is not visible there is nothing to look at.
    if let kernel = ProcessSnapshot(2), kernel.comm == Array("kthreadd".utf8) {
      #expect(kernel.executable == .unavailable(.kernelThread))
    }
  }

  @Test func argumentsNeedNotBeText() throws {
    let fixture = ProcessFixture()
    let script = Array("echo ready; read line".utf8)
    let child = try ChildProcess([Array("/bin/sh".utf8), Array("-c".utf8), script, [0xFF, 0xFE], [], [0x0A]])
    #expect(child.readLine() == "ready")
    let caller = fixture.caller(child.pid)
    #expect(
      fixture.arguments(caller.process)
        == .known(
          [Array("/bin/sh".utf8), Array("-c".utf8), script, [0xFF, 0xFE], [], [0x0A]], isTruncated: false))
  }

  @Test func argumentsAreBounded() throws {
    let many = ProcessArguments.split(Array(repeating: [65, 0], count: 33).flatMap { $0 })
    #expect(many == .known(Array(repeating: [65], count: 32), isTruncated: true))
    let exact = ProcessArguments.split(Array(repeating: [65, 0], count: 32).flatMap { $0 })
    #expect(exact == .known(Array(repeating: [65], count: 32), isTruncated: false))
    let long = ProcessArguments.split(Array(repeating: 66, count: 4097))
    #expect(long == .known([Array(repeating: 66, count: 4096)], isTruncated: true))
    #expect(ProcessArguments.split([]) == .known([], isTruncated: false))
    #expect(ProcessArguments.split([65, 0, 0]) == .known([[65], []], isTruncated: false))
  }

  @Test func pendingFatalSignals() throws {
    let child = try ChildProcess(["/bin/cat"])
    #expect(ProcessTable.hasPendingFatalSignal(threadID: child.pid) == false)
    #expect(ProcessTable.hasPendingFatalSignal(threadID: 0) == nil)
    kill(child.pid, SIGKILL)
    child.waitForExit()
    #expect(ProcessTable.hasPendingFatalSignal(threadID: child.pid) == nil)
  }
}
