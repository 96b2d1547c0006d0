import ArgumentParser
import DatalessControl
import DatalessDaemon
import Glibc

/// `dataless doctor`: what this machine grants, and what to do where it does not.
struct DoctorCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Say what this machine grants to volumes, with a remedy for each thing that it does not.",
    discussion: """
      Looks at /dev/fuse, limits and settings of the kernel and leftovers, and mounts a volume of /usr for a \
      moment, at a place of its own: what the kernel grants, only a mount shows. Nothing is changed, and nothing stays. \
      It answers for the user who asks; others may be granted more or less.

      EXAMPLES
        dataless doctor
        dataless doctor --json

      EXIT STATUS
        0 volumes can be mounted, perhaps with limits; 1 they cannot; 2 usage error.
      """)

  @Flag(help: "Print one JSON object. [default: text]")
  var json = false

  func run() throws {
    var checks = MachineExamination().checks()
    let kernel = MachineExamination.kernelRelease
    var libfuse = "unknown"
    var mounts = false
    do {
      let status = try TrialVolume.with { volume in
        try RemoteCall.run(try VolumeLocator.volume(volume.mountpoint), failure: "cannot look at the trial") {
          try await $0.status()
        }
      }
      mounts = true
      libfuse = status.libfuse
      checks.append(DoctorCheck("mount", .ok, finding: "a volume was mounted, asked and unmounted"))
      checks += TrialVolume(fastPaths: status.fastPaths, userID: geteuid()).checks
    } catch let error as LifecycleError {
      checks.append(MachineExamination.mountFailed(error))
    } catch let error as CommandFailure {
      checks.append(DoctorCheck("mount", .missing, finding: error.message))
    }
    let answer = DoctorAnswer(
      kernel: kernel, libfuse: libfuse, version: Version.current, userID: geteuid(), mounts: mounts, checks: checks)
    let output = StandardOutput()
    if json {
      try output.json(answer)
    } else {
      for line in Self.lines(answer) { try output.line(line) }
      try output.flush()
    }
    if !mounts { throw CommandExit(.failure) }
  }

  /// One line for each check, with its remedy below it.
  static func lines(_ answer: DoctorAnswer) -> [String] {
    let width = answer.checks.map(\.name.count).max() ?? 0
    var lines = [
      "dataless \(answer.version), Linux \(answer.kernel), libfuse \(answer.libfuse), "
        + (answer.userID == 0 ? "root" : "user \(answer.userID)")
    ]
    for check in answer.checks {
      let outcome = check.outcome.rawValue.padded(to: 7)
      lines.append("\(outcome)  \(check.name.padded(to: width))  \(check.finding)")
      if let remedy = check.remedy { lines.append("\("".padded(to: 7 + 2 + width))  \(remedy)") }
    }
    let limits = answer.checks.filter { $0.outcome == .limited }.count
    lines.append(
      !answer.mounts
        ? "no volume can be mounted here"
        : limits == 0
          ? "volumes can be mounted" : "volumes can be mounted, with \(HumanText.count(Int64(limits), "limit"))")
    return lines
  }
}

extension String {
  /// With spaces after it, at least so many characters long.
  fileprivate func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
