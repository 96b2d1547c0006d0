import Testing

@testable import DatalessCore
@testable import DatalessDaemon

/// What is said about the kernel's own locks behind a held attempt.
@Suite struct KernelLocksTests {
  private func attempt(
    _ kind: MaterializationKind, _ waits: [(Trigger, ReadMode?)], seconds: Int64
  ) -> AttemptSnapshot {
    let caller = Caller(
      process: .unknown, threadID: 7, pid: 7, isMainThread: true, uid: 0, gid: 0)
    return AttemptSnapshot(
      attempt: 1, path: [], kind: kind, size: 0, stage: "held", age: .seconds(seconds),
      stageAge: .seconds(seconds), waiterCount: waits.count,
      waiters: waits.map { trigger, io in
        AttemptSnapshot.WaitingCaller(caller: caller, trigger: trigger, io: io, blocked: 0)
      })
  }

  @Test func eachKindOfCallerHasItsSentence() {
    #expect(KernelLocks.sentences(attempt(.file, [(.read, .direct)], seconds: 1)).isEmpty)
    #expect(KernelLocks.sentences(attempt(.file, [(.read, .direct), (.read, .pageCache)], seconds: 1)).count == 1)
    #expect(
      KernelLocks.sentences(attempt(.directory, [(.lookup, nil), (.lookup, nil), (.readdir, nil)], seconds: 1)).count
        == 2)
    #expect(KernelLocks.sentences(attempt(.directory, [(.command, nil)], seconds: 1)).isEmpty)
    // With a profile that materializes on them.
    #expect(KernelLocks.sentences(attempt(.file, [(.seek, nil)], seconds: 1)).count == 1)
    #expect(KernelLocks.sentences(attempt(.file, [(.open, nil), (.xattr, nil)], seconds: 1)).isEmpty)
  }

  @Test func onlyWhatTasksMayHangBehindIsWarnedOf() {
    let long = attempt(.directory, [(.lookup, nil)], seconds: 120)
    #expect(KernelLocks.warning(long, hungTaskTimeoutSeconds: 120)?.contains("(120 s)") == true)
    #expect(KernelLocks.warning(long, hungTaskTimeoutSeconds: 121) == nil)
    #expect(KernelLocks.warning(long, hungTaskTimeoutSeconds: nil) == nil)
    #expect(
      KernelLocks.warning(attempt(.file, [(.read, .direct)], seconds: 999), hungTaskTimeoutSeconds: 120) == nil)
    #expect(
      KernelLocks.warning(attempt(.file, [(.read, .pageCache)], seconds: 999), hungTaskTimeoutSeconds: 120) != nil)
    #expect(KernelLocks.warning(attempt(.file, [(.seek, nil)], seconds: 999), hungTaskTimeoutSeconds: 120) != nil)
  }
}
