import DatalessControl

/// What programs are called in reports, escaped for a terminal.
enum ProgramText {
  static func name(_ process: ProcessSummary) -> String {
    process.isCommand
      ? "dataless materialize" : ProcessName.text(comm: process.comm, exe: process.exe, script: process.script)
  }

  static func starter(_ process: ProcessSummary) -> String? {
    process.startedBy.map { "\(ProcessName.text(comm: $0.comm, exe: $0.exe, script: $0.script))[\($0.pid)]" }
  }
}
