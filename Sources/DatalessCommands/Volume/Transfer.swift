import DatalessControl
import Glibc

/// The common part of `materialize` and `evict`: groups paths by volume, shows progress, names what failed.
struct Transfer: Sendable {
  typealias Call =
    @Sendable (
      ControlClient, [[UInt8]], @escaping (TransferProgress) -> Void
    ) async throws -> TransferResult

  /// `materialized` or `evicted`.
  var verb: String
  var isJSON: Bool

  func run(_ paths: [PathArgument], _ call: @escaping Call) throws {
    let output = StandardOutput()
    var hasFailed = false
    for (volume, paths) in try MountedVolumes.locate(paths) {
      let result = try transfer(volume, paths, call)
      if isJSON {
        try output.json(result)
      } else {
        let directories = HumanText.count(result.directories, "directory", plural: "directories")
        let files = "\(HumanText.count(result.files, "file")) (\(HumanText.size(result.bytes)))"
        try output.line("\(verb) \(files) and \(directories)")
        try output.flush()
      }
      hasFailed = name(result, at: volume.mountPoint) || hasFailed
    }
    if hasFailed { throw CommandExit(.failure) }
  }

  private func transfer(_ volume: MountEntry, _ paths: [[UInt8]], _ call: @escaping Call) throws -> TransferResult {
    let verb = verb
    return try Blocking.run {
      try await ControlClient.with(volume: volume) { client in
        let line = ProgressLine()
        defer { line.clear() }
        return try await call(client, paths) { progress in
          line.show("\(verb) \(HumanText.count(progress.files, "file")), \(HumanText.size(progress.bytes)) ...")
        }
      }
    }
  }

  /// Names failures and the refusal; true when there were any.
  private func name(_ result: TransferResult, at mountPoint: [UInt8]) -> Bool {
    let action = verb == "evicted" ? "evict" : "materialize"
    for failure in result.failures + (result.refused.map { [$0] } ?? []) {
      let path = TerminalText.escaped(
        failure.pathBytes.isEmpty ? mountPoint : PathBytes.join(mountPoint, failure.pathBytes))
      let reason = TerminalText.escaped(failure.message)
      let errno = failure.message.contains(failure.errno) ? "" : " (\(failure.errno))"
      Console.error("cannot \(action) \(path): \(reason)\(errno).")
    }
    let unnamed = result.failureCount - Int64(result.failures.count)
    if unnamed > 0 { Console.error("\(HumanText.count(unnamed)) more could not be \(verb); the log names them.") }
    return !result.failures.isEmpty || result.failureCount > 0 || result.refused != nil
  }
}
