import DatalessControl
import Glibc
import Testing

@testable import DatalessDaemon

@Suite("What a machine grants")
struct MachineExaminationTests {
  private let scratch = ScratchDirectory()

  private var examination: MachineExamination {
    var examination = MachineExamination()
    examination.availability.userID = 0
    examination.availability.device = "/dev/null"
    examination.availability.deviceNumber = (1, 3)
    examination.availability.configuration = "\(scratch.path)/fuse.conf"
    examination.availability.processStatus = "\(scratch.path)/status"
    examination.availability.searchPath = [scratch.path]
    examination.userID = 1000
    examination.settings = scratch.path
    return examination
  }

  private func check(_ name: String, _ examination: MachineExamination) -> DoctorCheck? {
    examination.checks().first { $0.name == name }
  }

  @Test func aMissingDeviceLetsNothingBeMountedAndSaysWhatToDo() {
    var examination = examination
    examination.availability.device = "\(scratch.path)/none"
    let fuse = check("fuse", examination)
    #expect(fuse?.outcome == .missing)
    #expect(fuse?.finding.hasPrefix("\(scratch.path)/none is missing") == true)
    #expect(fuse?.remedy?.hasPrefix("Load the module") == true)
    examination.availability.device = "/dev/null"
    #expect(check("fuse", examination)?.outcome == .ok)
  }

  @Test func ordinaryUsersMayNotShareUnlessAllowed() {
    #expect(check("allow_other", examination)?.outcome == .limited)
    #expect(check("allow_other", examination)?.remedy?.contains("user_allow_other") == true)
    scratch.file("fuse.conf", "# a comment\nuser_allow_other\n")
    #expect(check("allow_other", examination)?.outcome == .ok)
  }

  @Test func settingsThatAreNotThereLimitNothing() {
    #expect(check("stacks", examination)?.outcome == .ok)
    #expect(check("hung_tasks", examination)?.outcome == .ok)
  }

  @Test func yamaKeepsStacksFromOrdinaryUsers() {
    mkdir("\(scratch.path)/kernel", 0o700)
    mkdir("\(scratch.path)/kernel/yama", 0o700)
    scratch.file("kernel/yama/ptrace_scope", "1\n")
    #expect(check("stacks", examination)?.outcome == .limited)
    var root = examination
    root.userID = 0
    #expect(check("stacks", root)?.outcome == .ok)
    scratch.file("kernel/yama/ptrace_scope", "0\n")
    #expect(check("stacks", examination)?.outcome == .ok)
  }

  @Test func aKernelThatPanicsOfWaitsIsNamed() {
    mkdir("\(scratch.path)/kernel", 0o700)
    scratch.file("kernel/hung_task_timeout_secs", "120\n")
    scratch.file("kernel/hung_task_panic", "0\n")
    #expect(check("hung_tasks", examination)?.outcome == .ok)
    scratch.file("kernel/hung_task_panic", "1\n")
    #expect(check("hung_tasks", examination)?.finding.contains("120 s") == true)
  }

  @Test func anErrorIsItsFindingAndItsRemedy() {
    let parts = MachineExamination.parts(
      LifecycleError("cannot mount: /a.b is missing: no such file (ENOENT). Load it. Then try again."))
    #expect(parts.finding == "/a.b is missing: no such file (ENOENT)")
    #expect(parts.remedy == "Load it. Then try again.")
    #expect(MachineExamination.parts(LifecycleError("nothing to be done")).remedy == nil)
  }

  @Test func whatTheTrialShowsHasItsRemedyWhereItIsDenied() {
    let trial = TrialVolume(
      fastPaths: [
        "passthrough": .bool(false), "readdirplus": .bool(true), "source_protection": .string("plain_descriptor"),
      ], userID: 1000)
    let checks = Dictionary(uniqueKeysWithValues: trial.checks.map { ($0.name, $0) })
    #expect(checks["passthrough"]?.outcome == .limited)
    #expect(checks["passthrough"]?.remedy?.contains("Only root") == true)
    #expect(checks["readdirplus"]?.outcome == .ok)
    #expect(checks["readdirplus"]?.remedy == nil)
    #expect(checks["posix_acl"]?.outcome == .unknown)
    #expect(checks["source_protection"]?.finding.contains("plain_descriptor") == true)
  }
}
