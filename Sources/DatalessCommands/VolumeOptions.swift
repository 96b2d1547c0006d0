public import ArgumentParser
import DatalessCore
import DatalessDaemon

/// The options of a volume, shared by `mount` and `run`.
struct VolumeOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Delay before the content of a file, such as 200ms or 1.5s. [default: 0]", valueName: "duration"),
    transform: Self.nanoseconds)
  var latency: Int64 = 0

  @Option(
    help: ArgumentHelp("Delay before the listing of a directory, such as 50ms. [default: 0]", valueName: "duration"),
    transform: Self.nanoseconds)
  var directoryLatency: Int64 = 0

  @Option(
    help: ArgumentHelp(
      "Bytes per second that all fetches share, such as 20MB/s. [default: unlimited]", valueName: "rate"),
    transform: Self.rate)
  var bandwidth: Int64?

  @Option(
    help: ArgumentHelp("Fetches at the same time, 1 or more. [default: unlimited]", valueName: "n"),
    transform: Self.count)
  var concurrency: Int?

  @Option(
    help: ArgumentHelp("The event log's file. [default: a new file in ~/.local/state/dataless/logs]", valueName: "file")
  )
  var log: PathArgument?

  @Option(
    help: ArgumentHelp(
      "Where materialized content is kept while the volume is mounted. [default: ~/.cache/dataless]",
      valueName: "directory"))
  var cacheDir: PathArgument?

  @Flag(help: "Let other users use the volume. [default: only the user that mounts it]")
  var allowOther = false

  @Flag(help: "Follow mounts below SOURCE. [default: they show as empty directories]")
  var crossMounts = false

  @Option(
    help: ArgumentHelp(
      "Do without a fast path, to test the fallback: \(FastPath.allCases.map(\.rawValue).joined(separator: ", ")). Repeatable."
        + " [default: use what the kernel has]", valueName: "fast-path"))
  var without: [FastPath] = []

  /// The plan of a volume of `source`.
  ///
  /// - Throws: `CommandFailure` for a malformed synthetic specification, naming the part that is wrong.
  func plan(source: PathArgument) throws -> VolumePlan {
    VolumePlan(
      source: try Self.source(source), latencyNanoseconds: latency, directoryLatencyNanoseconds: directoryLatency,
      bandwidthBytesPerSecond: bandwidth, concurrency: concurrency, log: log?.bytes, cacheDirectory: cacheDir?.bytes,
      allowOther: allowOther, crossMounts: crossMounts, without: without)
  }

  private static func source(_ argument: PathArgument) throws -> VolumeConfiguration.Source {
    let text = String(decoding: argument.bytes, as: UTF8.self)
    guard SyntheticSource.isSpecification(text) else { return .directory(argument.bytes) }
    do {
      try SyntheticSource.check(text)
    } catch {
      throw CommandFailure("cannot use SOURCE: \(error.message) (EINVAL).", status: .usage)
    }
    return .synthetic(text)
  }

  private static func nanoseconds(_ text: String) throws -> Int64 {
    let (seconds, attoseconds) = try checked { () throws(FSError) in try DurationText.parse(text) }.components
    let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    return overflow ? .max : product + attoseconds / 1_000_000_000
  }

  private static func rate(_ text: String) throws -> Int64 {
    try checked { () throws(FSError) in try Rate.parse(text) }
  }

  private static func count(_ text: String) throws -> Int {
    guard let value = Int(text), value >= 1 else {
      throw ValidationError("malformed concurrency '\(text)': expected a whole number, 1 or more (EINVAL).")
    }
    return value
  }

  static func checked<Value>(_ parse: () throws(FSError) -> Value) throws -> Value {
    do {
      return try parse()
    } catch {
      throw ValidationError(error.message + " (EINVAL).")
    }
  }
}

extension FastPath: ExpressibleByArgument {}
