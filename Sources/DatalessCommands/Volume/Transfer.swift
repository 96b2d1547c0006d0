import DatalessControl
import Glibc

/// The common part of `materialize` and `evict`: groups paths by volume, shows progress, names what failed.
struct Transfer: Sendable {
  typealias Call =
    @Sendable (
      ControlClient, [[UInt8]], @escaping @Sendable (TransferProgress) -> Void
    ) async throws -> TransferResult

  /// `materialized` or `evicted`.
  var verb: String
  var isJSON: Bool

  func run(_ paths: [PathArgument], _ call: @escaping Call) throws {
    let output = StandardOutput()
    var failed: Int64 = 0
    let long = LongRequest()
    for (volume, paths) in try MountedVolumes.locate(paths) {
      guard let result = try transfer(volume, paths, long, call) else {
        long.cut(at: volume.mountPoint, paths)
        continue
      }
      long.cut(at: volume.mountPoint, result.unfinished.map(\.bytes))
      if isJSON {
        try output.json(result)
      } else {
        let directories = HumanText.count(result.directories, "directory", plural: "directories")
        let files = "\(HumanText.count(result.files, "file")) (\(HumanText.size(result.bytes)))"
        try output.line("\(verb) \(files) and \(directories)")
        try output.flush()
      }
      FailureList.say(
        result.failures, count: result.failureCount, at: volume.mountPoint, action: action,
        others: verb == "evicted" ? "--json names them all" : "--json names the first 1,000, the log all")
      failed += result.failureCount
    }
    try long.finish("Everything else that was asked for is \(verb); the same command goes on from here.")
    try FailureList.end(failed, "cannot \(action)")
  }

  private var action: String { verb == "evicted" ? "evict" : "materialize" }

  /// - Returns: nil when it was interrupted before there was anything to say.
  private func transfer(
    _ volume: MountEntry, _ paths: [[UInt8]], _ long: LongRequest, _ call: @escaping Call
  ) throws -> TransferResult? {
    let verb = verb
    return try long.run(volume, "cannot \(action) on \(TerminalText.escaped(volume.mountPoint))") { client in
      let line = ProgressLine()
      defer { line.clear() }
      return try await call(client, paths) { progress in
        line.show("\(verb) \(HumanText.count(progress.files, "file")), \(HumanText.size(progress.bytes)) ...")
      }
    }
  }
}
