import ArgumentParser
import DatalessControl
import DatalessCore
import DatalessScenario

/// What is expected, on the command line: `run` and `check-log` share it.
struct ExpectationOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("Files that may be materialized, 0 or more. [default: any number]", valueName: "n"),
    transform: { try Self.count($0, of: "files") })
  var maxFiles: Int64?

  @Option(
    help: ArgumentHelp("Bytes that may be materialized, such as 20MB or 0. [default: any number]", valueName: "size"),
    transform: { text in try VolumeOptions.checked { () throws(FSError) in try ByteSize.parse(text) } })
  var maxBytes: Int64?

  @Option(
    help: ArgumentHelp("Directories that may be listed, 0 or more. [default: any number]", valueName: "n"),
    transform: { try Self.count($0, of: "directories") })
  var maxDirs: Int64?

  @Option(
    help: ArgumentHelp("How long one caller may be blocked, such as 2s. [default: any time]", valueName: "duration"),
    transform: Self.nanoseconds)
  var maxWait: Int64?

  @Option(
    help: ArgumentHelp(
      "How long a main thread may be blocked at once, such as 100ms. [default: any time]", valueName: "duration"),
    transform: Self.nanoseconds)
  var maxMainThread: Int64?

  @Option(
    help: ArgumentHelp(
      "Files that may be fetched and of which at most 5 % is read, 0 or more. [default: any number]", valueName: "n"),
    transform: { try Self.count($0, of: "needless files") })
  var maxNeedless: Int64?

  @Option(
    help: ArgumentHelp("Times that policy may refuse a caller, 0 or more. [default: any number]", valueName: "n"),
    transform: { try Self.count($0, of: "refusals") })
  var maxRefusals: Int64?

  @Option(
    help: ArgumentHelp(
      "Files that one process may have in flight at any moment, 0 or more. [default: any number]", valueName: "n"),
    transform: { try Self.count($0, of: "files in flight", max: 1_000_000) })
  var maxParallel: Int64?

  @Option(
    help: ArgumentHelp(
      "Files that a process which materializes several must have in flight on average, such as 2 or 1.5. [default: any]",
      valueName: "number"),
    transform: Self.hundredths)
  var minParallel: Int64?

  @Option(
    help: ArgumentHelp(
      "How often one file may be materialized again after its eviction, 0 or more. [default: any number]",
      valueName: "n"),
    transform: { try Self.count($0, of: "repetitions") })
  var maxRepeated: Int64?

  @Option(
    help: ArgumentHelp(
      "Files that one process may wait for one after the other, 1 or more. [default: any number]", valueName: "n"),
    transform: { try Self.count($0, of: "files", min: 1) })
  var maxSerialWaits: Int64?

  @Flag(help: "No lookup may block of which nothing is opened, listed or changed afterwards. [default: it may]")
  var forbidUnneededBlocking = false

  @Option(
    help: ArgumentHelp(
      "Files that may be written to while another process has them open, without a lock or an intent, 0 or more."
        + " [default: any number]", valueName: "n"),
    transform: { try Self.count($0, of: "files") })
  var maxTogether: Int64?

  @Option(
    help: ArgumentHelp(
      "Paths of which nobody may materialize anything, or try to; what policy refuses is not tried. Repeatable."
        + " [default: none]", valueName: "glob"),
    transform: GlobOption.parse)
  var forbid: [PathPattern] = []

  @Option(
    help: ArgumentHelp(
      "Only paths that match may be materialized, and the directories on the way there. Repeatable. [default: all]",
      valueName: "glob"),
    transform: GlobOption.parse)
  var allow: [PathPattern] = []

  @Option(
    name: .customLong("baseline"),
    help: ArgumentHelp("A file of the paths that may be materialized. [default: all may]", valueName: "file"))
  var baselines: [PathArgument] = []

  /// Of several, which `validate` refuses, the parser alone would take the last one, and say nothing.
  private var baseline: PathArgument? { baselines.first }

  @Flag(help: "Write --baseline anew with what was materialized, instead of holding it against it.")
  var updateBaseline = false

  func validate() throws {
    if baselines.count > 1 {
      throw ValidationError("--baseline is given \(baselines.count) times: there can be one (EINVAL).")
    }
    if updateBaseline, baseline == nil {
      throw ValidationError("--update-baseline belongs to --baseline: name the file, or leave both out (EINVAL).")
    }
  }

  /// One for each option, and those of a scenario behind them.
  func expectations(_ scenario: ScenarioDocument?) -> [Expectation] {
    let bounds: [(Expectation.Measure, Int64?)] = [
      (.maxFiles, maxFiles), (.maxBytes, maxBytes), (.maxDirectories, maxDirs), (.maxWait, maxWait),
      (.maxMainThread, maxMainThread), (.maxNeedless, maxNeedless), (.maxRefusals, maxRefusals),
      (.maxParallel, maxParallel.map { $0 * 100 }), (.minParallel, minParallel), (.maxRepeated, maxRepeated),
      (.maxSerialWaits, maxSerialWaits), (.forbidUnneededBlocking, forbidUnneededBlocking ? 0 : nil),
      (.maxTogether, maxTogether),
    ]
    var result = bounds.compactMap { measure, bound in bound.map { Expectation(measure, $0) } }
    if !forbid.isEmpty { result.append(Expectation(.forbid, paths: forbid)) }
    if !allow.isEmpty { result.append(Expectation(.allow, paths: allow)) }
    return result + (scenario?.expectations ?? [])
  }

  /// What `--baseline` names; nil without it.
  var baselineFile: NamedFile? {
    baseline.map { NamedFile("--baseline", $0.bytes, isWritten: updateBaseline) }
  }

  /// - Throws: `ControlError` for a file that is no baseline, or is not there; with `--update-baseline` also for one
  ///   that cannot be written, as far as that is known before.
  func readBaseline() throws(ControlError) -> Baseline? {
    guard let baseline else { return nil }
    let read = try BaselineFile.read(baseline.bytes, isUpdate: updateBaseline)
    if updateBaseline { try BaselineFile.check(baseline.bytes) }
    return read
  }

  /// Writes the baseline anew, if that is asked for, the log tells all, and the command was not cut off.
  ///
  /// - Returns: A sentence that says why it was not written; nil where it was, or nobody asked for it.
  /// - Throws: `ControlError` where it cannot be written.
  func update(_ expectations: Expectations, _ verdict: inout Verdict) throws(ControlError) -> String? {
    guard updateBaseline, let path = baseline?.bytes, let new = expectations.materialized else { return nil }
    if let reason = verdict.gaps.first ?? expectations.cutOff {
      return "the baseline \(new.file) is left as it is: \(TerminalText.harmless(reason)). "
        + "Run once more with --update-baseline when that is mended."
    }
    try BaselineFile.write(new, to: path)
    verdict.baseline?.isUpdated = true
    return nil
  }

  private static func count(_ text: String, of what: String, min: Int64 = 0, max: Int64 = .max) throws -> Int64 {
    guard let value = Int64(text), (min...max).contains(value) else {
      throw ValidationError("malformed number of \(what) '\(text)': expected a whole number, \(min) or more (EINVAL).")
    }
    return value
  }

  private static func nanoseconds(_ text: String) throws -> Int64 {
    try VolumeOptions.checked { () throws(FSError) in try DurationText.parse(text) }.nanoseconds
  }

  private static func hundredths(_ text: String) throws -> Int64 {
    if let value = Expectation.hundredths(text) { return value }
    throw ValidationError(
      "malformed --min-parallel '\(text)': expected a number from 1 to 1000000 with at most two decimals, such as 1.5 (EINVAL)."
    )
  }
}
