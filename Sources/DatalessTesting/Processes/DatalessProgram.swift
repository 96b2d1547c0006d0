import FoundationEssentials
import Glibc

/// How a program ended.
public struct ProgramResult: Sendable, Hashable {
  /// Its exit status; the number of the signal that ended it, negative.
  public let status: Int32
  /// What it has written to standard output; what is no UTF-8 is U+FFFD.
  public let output: String
  /// What it has written to standard error.
  public let error: String

  func failure(_ name: String) -> DatalessError {
    let end = status < 0 ? "was ended by signal \(-status)" : "ended with status \(status)"
    let words = trimmed(error)
    return DatalessError("\(name) \(end)." + (words.isEmpty ? "" : "\n" + words), code: "program_failed")
  }
}

/// A program that a test has started on a volume, in a process group of its own: whatever it leaves running ends with
/// the volume.
public final class DatalessProgram: Sendable {
  private let child: Child
  private let name: String
  private let outputs: (output: OutputFile, error: OutputFile)
  /// By its name, the keeper ends the group should this process be killed.
  private let mark: String
  private let explain: @Sendable () async -> String

  /// Its number.
  public var pid: Int32 { child.pid }

  /// Whether it has not ended yet.
  public var isRunning: Bool { child.isRunning }

  private init(
    child: Child, name: String, outputs: (output: OutputFile, error: OutputFile), mark: String,
    explain: @escaping @Sendable () async -> String
  ) {
    (self.child, self.name, self.outputs, self.mark, self.explain) = (child, name, outputs, mark, explain)
  }

  static func start(
    _ words: [String], environment: [String: String], folder: String, explain: @escaping @Sendable () async -> String
  ) async throws -> DatalessProgram {
    let outputs = try await Threads.run { (try OutputFile(in: folder), try OutputFile(in: folder)) }
    let plan = Child.Plan(
      words: words, environment: environment, descriptors: [1: outputs.0.descriptor, 2: outputs.1.descriptor])
    let child = try await Child.start(plan)
    let mark = "\(folder)/programs/\(child.pid)"
    let pid = child.pid
    try await Threads.run { try Data(identity(of: pid).utf8).write(to: URL(filePath: mark)) }
    return DatalessProgram(child: child, name: words.first ?? "", outputs: outputs, mark: mark, explain: explain)
  }

  /// What tells a process from others that have its number later, as the keeper reads it: boot, pid namespace, and
  /// clock ticks at its start. Empty if it is not known.
  private static func identity(of pid: Int32) -> String {
    func text(_ path: String) -> String {
      String(decoding: FileManager.default.contents(atPath: path) ?? Data(), as: UTF8.self)
    }
    // Its name may have blanks and brackets; what follows is field 3.
    let fields = text("/proc/\(pid)/stat").split(separator: ")").last?.split(separator: " ") ?? []
    guard fields.count > 19,
      let space = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/ns/pid")
    else { return "" }
    return "\(trimmed(text("/proc/sys/kernel/random/boot_id"))) \(space) \(fields[19])\n"
  }

  /// Waits for its end. After `timeout` throws a `DatalessError` (`timed_out`) with who waits for the volume and
  /// where; the program has been ended then.
  public func wait(timeout: Duration = .seconds(60)) async throws -> ProgramResult {
    guard let status = await child.status(within: timeout) else {
      let waiting = await explain()
      await kill()
      try Task.checkCancellation()
      throw DatalessError(
        "\(name) did not end within \(timeout.words)." + (waiting.isEmpty ? "" : " Who waits:\n\(waiting)"),
        code: "timed_out", errno: "ETIMEDOUT")
    }
    return try await Threads.run { [outputs] in
      ProgramResult(status: status, output: outputs.output.text(), error: outputs.error.text())
    }
  }

  /// Ends it and what it has started, with SIGKILL. Does nothing the second time.
  public func kill() async {
    await child.kill()
    unlink(mark)
  }
}
