import Glibc
import Testing

@testable import DatalessDaemon

@Suite("Running a command")
struct RunTests {
  private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

  @Test(arguments: [
    ("{}", "{}", "/m"), ("a{}b{}", "{}", "a/mb/m"), ("{{}}", "{}", "{/m}"), ("none", "{}", "none"), ("", "{}", ""),
    ("@@@", "@@", "/m@"), ("{", "{}", "{"), ("file={}/x", "{}", "file=/m/x"),
  ])
  func everyPlaceholderIsReplaced(_ argument: String, _ placeholder: String, _ expected: String) {
    let result = PlaceholderSubstitution.replace(bytes(placeholder), in: [bytes(argument)], with: bytes("/m"))
    #expect(result == [bytes(expected)])
  }

  @Test func argumentsThatAreNotUTF8StayAsTheyAre() {
    #expect(
      PlaceholderSubstitution.replace(bytes("{}"), in: [[0xff, 0x7b, 0x7d, 0xfe]], with: [0x2f]) == [
        [0xff, 0x2f, 0xfe]
      ])
  }

  @Test func waitStatusesAreRead() {
    #expect(CommandOutcome(waitStatus: 0) == .exited(0))
    #expect(CommandOutcome(waitStatus: 3 << 8) == .exited(3))
    #expect(CommandOutcome(waitStatus: 255 << 8).exitStatus == 255)
    #expect(CommandOutcome(waitStatus: SIGTERM) == .signalled(SIGTERM))
    // With a core dump.
    #expect(CommandOutcome(waitStatus: SIGSEGV | 0x80).exitStatus == 128 + 11)
    #expect(CommandOutcome.signalled(SIGKILL).words == "killed by SIGKILL")
  }

  @Test func aSignalIsPassedOnAndASecondOneKills() {
    var signals = RunSignals()
    #expect(signals.started(7) == nil)
    #expect(signals.received(SIGTERM, isFromKernel: false, at: 1000) == .send(SIGTERM, to: 7))
    // timeout(1) sends it twice.
    #expect(signals.received(SIGTERM, isFromKernel: false, at: 1001) == .leave)
    #expect(signals.received(SIGHUP, isFromKernel: false, at: 1200) == .send(SIGKILL, to: 7))
  }

  @Test func aTerminalsSignalIsLeftToTheCommand() {
    var signals = RunSignals()
    #expect(signals.started(7) == nil)
    for time in [0, 1000, 2000] as [Int64] {
      #expect(signals.received(SIGINT, isFromKernel: true, at: time) == .leave)
    }
    #expect(signals.received(SIGINT, isFromKernel: false, at: 3000) == .send(SIGINT, to: 7))
  }

  @Test func aSignalReachesACommandThatIsStillBeingStarted() {
    var signals = RunSignals()
    #expect(signals.received(SIGTERM, isFromKernel: false, at: 0) == .leave)
    #expect(signals.started(7) == SIGTERM)
    #expect(signals.received(SIGTERM, isFromKernel: false, at: 500) == .send(SIGKILL, to: 7))
    var impatient = RunSignals()
    _ = impatient.received(SIGTERM, isFromKernel: false, at: 0)
    _ = impatient.received(SIGTERM, isFromKernel: false, at: 500)
    #expect(impatient.started(7) == SIGKILL)
  }

  @Test func afterTheCommandASignalEndsTheWaitAndTheNextOneUs() {
    var signals = RunSignals()
    #expect(signals.started(7) == nil)
    signals.ended()
    #expect(!signals.isAskedToEnd)
    #expect(signals.received(SIGINT, isFromKernel: true, at: 0) == .stopWaiting)
    #expect(signals.interruption == SIGINT)
    // timeout(1) sends it twice.
    #expect(signals.received(SIGINT, isFromKernel: false, at: 100) == .leave)
    #expect(signals.received(SIGTERM, isFromKernel: false, at: 500) == .exit(143))
    signals.waitingEnded()
    #expect(signals.received(SIGINT, isFromKernel: true, at: 1000) == .exit(130))
  }

  @Test func aSignalThatWasPassedOnDoesNotEndTheWaitASecondTime() {
    var signals = RunSignals()
    #expect(signals.started(7) == nil)
    #expect(signals.received(SIGTERM, isFromKernel: false, at: 1000) == .send(SIGTERM, to: 7))
    signals.ended()
    #expect(signals.isAskedToEnd)
    #expect(signals.received(SIGTERM, isFromKernel: false, at: 1100) == .leave)
    #expect(signals.interruption == nil)
  }

  @Test func withoutAWaitASignalEndsUs() {
    var signals = RunSignals()
    signals.ended()
    signals.waitingEnded()
    #expect(signals.received(SIGINT, isFromKernel: true, at: 0) == .exit(130))
  }
}

@Suite("What a command leaves running")
struct LeftProcessTests {
  /// Without a descriptor a signal could reach a later process of that pid, so none is sent, and nobody is said to have
  /// ended.
  @Test func whoCannotBeReachedIsNotSaidToHaveEnded() throws {
    let child = try ChildProcess(["/bin/cat"])
    var process = RemainingProcess(pid: child.pid, comm: "cat", exe: nil, descriptor: nil)
    for signal in [SIGTERM, SIGKILL] { process.end(by: signal) }
    #expect(!process.wasEnded && !process.hasEnded && process.endErrno == ENOSYS)
    child.send("alive\n")
    #expect(child.readLine() == "alive")
  }

  @Test func whoIsReachedIsSaidToHaveEnded() throws {
    let child = try ChildProcess(["/bin/cat"])
    var process = try #require(RemainingProcess.look(child.pid))
    #expect(!process.wasEnded)
    // SIGTERM may be blocked in what is started here.
    process.end(by: SIGKILL)
    #expect(process.wasEnded && process.endErrno == nil)
    child.waitForExit()
    process.end(by: SIGKILL)
    #expect(process.hasEnded && process.endErrno == nil)
  }
}
