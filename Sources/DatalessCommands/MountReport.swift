import DatalessControl
import DatalessDaemon
import DatalessScenario

/// What `mount` prints about the volume it mounted.
struct MountReport {
  private let answer: MountAnswer
  private let lines: [String]

  /// - Parameter scenario: What is worth a look in it; standard error has it already.
  init(_ volume: ReadyVolume, _ configuration: VolumeConfiguration, scenario: [ScenarioWarning]) {
    answer = MountAnswer(
      device: volume.device, log: volume.log, mountpoint: volume.mountpoint, pid: volume.pid, readOnly: true,
      session: volume.session, source: configuration.sourceBytes, warnings: volume.warnings,
      scenarioWarnings: scenario.map { WireProblem($0) })
    lines = [
      "mounted \(TerminalText.escaped(volume.mountpoint)) (read-only) from "
        + TerminalText.escaped(configuration.sourceBytes),
      "log \(TerminalText.escaped(volume.log))",
    ]
  }

  /// Warnings go to standard error, the rest to standard output.
  func print(json: Bool) throws {
    let output = StandardOutput()
    if json {
      try output.json(answer)
      return
    }
    for warning in answer.warnings { Console.note("dataless: warning: \(warning)") }
    for line in lines { try output.line(line) }
    try output.flush()
  }
}
