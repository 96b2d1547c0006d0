import ArgumentParser
import DatalessControl
import Glibc

/// `dataless materialize`: brings content in before somebody needs it.
struct MaterializeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "materialize",
    abstract: "Materialize files, and directories with all that is below them.",
    discussion: """
      Waits until all is there. What fails is named, and does not stop the rest.

      EXAMPLES
        dataless materialize /mnt/project/src
        dataless materialize /mnt/project/a.bin /mnt/project/b.bin --json

      EXIT STATUS
        0 all is resident; 1 something could not be materialized; 2 usage error; 3 not on a volume, or its daemon is not \
      running; 130 interrupted.
      """)

  @Argument(help: ArgumentHelp("Files or directories on volumes.", valueName: "path"))
  var paths: [PathArgument]

  @Flag(help: "Print the result for each volume as one line of JSON. [default: text]")
  var json = false

  func run() throws {
    try Transfer(verb: "materialized", isJSON: json).run(paths) { client, paths, progress in
      try await client.materialize(paths, progress: progress)
    }
  }
}

/// `dataless evict`: makes items dataless again.
struct EvictCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "evict",
    abstract: "Make files dataless again, and directories with all that is below them.",
    discussion: """
      The next read materializes again. A file that is open or was written to (EBUSY), has several names (EMLINK) or is \
      pinned (EPERM) is refused: the first 20 are named, with --json all, and everything else is evicted. A directory that \
      keeps a refused item stays listed.

      EXAMPLES
        dataless evict /mnt/project
        dataless evict /mnt/project/a.bin --json

      EXIT STATUS
        0 all is dataless; 1 something was refused; 2 usage error; 3 not on a volume, or its daemon is not running; \
      130 interrupted.
      """)

  @Argument(help: ArgumentHelp("Files or directories on volumes.", valueName: "path"))
  var paths: [PathArgument]

  @Flag(help: "Stop at the first refusal. [default: go on with the others]")
  var stop = false

  @Flag(help: "Print the result for each volume as one line of JSON. [default: text]")
  var json = false

  func run() throws {
    let stops = stop
    try Transfer(verb: "evicted", isJSON: json).run(paths) { client, paths, progress in
      try await client.evict(paths, stops: stops, progress: progress)
    }
  }
}

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
      guard let result = try transfer(volume, paths: paths, long: long, call) else {
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
      failed = failed.plus(result.failureCount)
    }
    try long.finish("Everything else that was asked for is \(verb); the same command goes on from here.")
    try FailureList.end(failed, "cannot \(action)")
  }

  private var action: String { verb == "evicted" ? "evict" : "materialize" }

  /// - Returns: nil when it was interrupted before there was anything to say.
  private func transfer(
    _ volume: MountEntry, paths: [[UInt8]], long: LongRequest, _ call: @escaping Call
  ) throws -> TransferResult? {
    let verb = verb
    return try long.run(volume, failure: "cannot \(action) on \(TerminalText.escaped(volume.mountPoint))") { client in
      let line = ProgressLine()
      defer { line.clear() }
      return try await call(client, paths) { progress in
        line.show(Self.text(progress, verb), share: progress.share)
      }
    }
  }

  static func text(_ progress: TransferProgress, _ verb: String) -> String {
    if let files = progress.totalFiles, let bytes = progress.totalBytes {
      return "\(verb) \(HumanText.count(progress.files)) of \(HumanText.count(files, "file")), "
        + "\(HumanText.size(progress.bytes)) of \(HumanText.size(bytes))"
    }
    // They come first: how much there is is not known yet.
    guard progress.files == 0, progress.directories > 0 else {
      return "\(verb) \(HumanText.count(progress.files, "file")), \(HumanText.size(progress.bytes))"
    }
    return "listed \(HumanText.count(progress.directories, "directory", plural: "directories"))"
  }
}

extension TransferProgress {
  /// What is done, 0 to 1: of the files or of their bytes, whichever is less. nil where the whole is not known.
  var share: Double? {
    guard let totalFiles, totalFiles > 0, let totalBytes else { return nil }
    let byFiles = Double(files) / Double(totalFiles)
    return min(1, totalBytes > 0 ? min(byFiles, Double(bytes) / Double(totalBytes)) : byFiles)
  }
}
