import DatalessCore
import Glibc
import Testing

@testable import DatalessDaemon

/// Which processes have been stopped for too long while others wait for what they hold.
@Suite struct CoordinationProcessesTests {
  private static func time(_ seconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: seconds * 1_000_000_000) }

  private static func stop(_ child: ChildProcess) {
    kill(child.pid, SIGSTOP)
    var status: Int32 = 0
    while waitpid(child.pid, &status, WUNTRACED) < 0, errno == EINTR {}
    // This is told a moment before it gives up the processor.
    while isRunning(child.pid) { sched_yield() }
  }

  private static func isRunning(_ process: Int32) -> Bool {
    guard let stream = fopen("/proc/\(process)/syscall", "r") else { return false }
    defer { fclose(stream) }
    return fgetc(stream) == Int32(UInt8(ascii: "r"))
  }

  private static func goOn(_ child: ChildProcess) {
    kill(child.pid, SIGCONT)
    var status: Int32 = 0
    while waitpid(child.pid, &status, WCONTINUED) < 0, errno == EINTR {}
  }

  @Test func itLosesWhatOthersWaitForAndNothingElse() throws {
    let (child, other) = (try ChildProcess(["/bin/cat"]), try ChildProcess(["/bin/cat"]))
    var processes = CoordinationProcesses()
    #expect(processes.add(1, of: child.pid) != nil)
    #expect(processes.add(2, of: child.pid) == nil)
    #expect(processes.add(3, of: other.pid) != nil)
    Self.stop(child)
    for second in Int64(0)..<20 {
      // For the second one somebody waits from the tenth second on.
      let found = processes.stopped(at: Self.time(second)) { $0 != 1 && second >= 10 }
      #expect(found == (second < 15 ? [] : [2]), "second \(second)")
    }
    Self.goOn(child)
    #expect(processes.stopped(at: Self.time(20)) { _ in true }.isEmpty)
  }

  /// Nobody looks while nobody waits: what was seen before does not count.
  @Test func anEarlierStopIsForgotten() throws {
    let child = try ChildProcess(["/bin/cat"])
    var processes = CoordinationProcesses()
    _ = processes.add(1, of: child.pid)
    Self.stop(child)
    for second in Int64(0)...3 { #expect(processes.stopped(at: Self.time(second)) { _ in true }.isEmpty) }
    Self.goOn(child)
    Self.stop(child)
    for second in Int64(8)..<13 {
      #expect(processes.stopped(at: Self.time(second)) { _ in true }.isEmpty, "second \(second)")
    }
    #expect(processes.stopped(at: Self.time(13)) { _ in true } == [1])
  }

  /// It is looked at once a second: what goes on in between was not stopped for long.
  @Test func whoGoesOnBetweenTwoLooksBeginsAnew() throws {
    let child = try ChildProcess(["/bin/cat"])
    var processes = CoordinationProcesses()
    _ = processes.add(1, of: child.pid)
    for second in Int64(0)..<12 {
      if second > 0, second.isMultiple(of: 3) { Self.goOn(child) }
      if second.isMultiple(of: 3) { Self.stop(child) }
      #expect(processes.stopped(at: Self.time(second)) { _ in true }.isEmpty, "second \(second)")
    }
    for second in Int64(12)..<14 { #expect(processes.stopped(at: Self.time(second)) { _ in true }.isEmpty) }
    #expect(processes.stopped(at: Self.time(14)) { _ in true } == [1])
  }

  @Test func switchesAreCountedOfBothKinds() {
    let text = "Name:\tvoluntary_ctxt_switches: 5\nvoluntary_ctxt_switches:\t17\nnonvoluntary_ctxt_switches:\t4\n"
    #expect(ProcessThreads.switches(in: Array(text.utf8)) == 21)
    #expect(ProcessThreads.switches(in: Array("Name:\tcat\n".utf8)) == nil)
  }

  /// Its descriptors are closed before its end is told: by then it can be seen.
  @Test func whoIsEndingIsKnown() throws {
    let child = try ChildProcess(["/bin/cat"])
    var processes = CoordinationProcesses()
    _ = processes.add(1, of: child.pid)
    let isEndingBefore = processes.isEnding(child.pid)
    #expect(!isEndingBefore)
    #expect(ProcessThreads.areEnding(of: 0) == false)
    kill(child.pid, SIGKILL)
    // It stays a zombie.
    var end = siginfo_t()
    while waitid(P_PID, id_t(child.pid), &end, WEXITED | WNOWAIT) < 0, errno == EINTR {}
    let isEnding = processes.isEnding(child.pid)
    #expect(isEnding)
  }

  @Test func whoHasSaidNothingIsKnownByProcess() {
    var processes = CoordinationProcesses()
    _ = processes.add(1, of: 0)
    _ = processes.add(2, of: 0)
    #expect(processes.areSilent(of: 0) && !processes.areSilent(of: 7))
    processes.noteSpoken(1, of: 0)
    #expect(processes.areSilent(of: 0))
    processes.remove(2, of: 0)
    #expect(!processes.areSilent(of: 0) && processes.count(of: 0) == 1)
  }
}
