import DatalessControl
import DatalessDaemon

/// What `mount` prints about the volume it mounted.
struct MountReport: Encodable {
  let device: String
  let log: String
  let logBase64: String?
  let mountpoint: String
  let mountpointBase64: String?
  let pid: Int32
  let readOnly = true
  let session: String
  let source: String
  let sourceBase64: String?
  let warnings: [String]

  enum CodingKeys: String, CodingKey {
    case device, log, mountpoint, pid, session, source, warnings
    case logBase64 = "log_b64"
    case mountpointBase64 = "mountpoint_b64"
    case readOnly = "read_only"
    case sourceBase64 = "source_b64"
  }

  private let lines: [String]

  init(_ volume: ReadyVolume, _ configuration: VolumeConfiguration) {
    device = volume.device
    pid = volume.pid
    session = volume.session
    warnings = volume.warnings
    (log, logBase64) = WirePath.split(volume.log)
    (mountpoint, mountpointBase64) = WirePath.split(volume.mountpoint)
    (source, sourceBase64) = WirePath.split(configuration.sourceBytes)
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
      try output.json(self)
      return
    }
    for warning in warnings { Console.note("dataless: warning: \(warning)") }
    for line in lines { try output.line(line) }
    try output.flush()
  }
}
