/// A gate that a rule of the scenario names: it holds what matches until it is told to let go.
public struct DatalessGate: Sendable {
  let volume: DatalessVolume
  /// Its name in the scenario.
  public let name: String

  /// Waits until so many callers, 0 or more, are blocked here. After `timeout` throws a `DatalessError` (`timed_out`,
  /// ETIMEDOUT) that says who is; `not_found` if no rule names the gate.
  public func callers(_ count: Int, timeout: Duration = .seconds(10)) async throws {
    let words = ["gate", "wait", volume.path, name, "--callers", "\(count)", "--timeout", timeout.words]
    do { try await volume.command(words, limit: timeout + .seconds(30)) } catch let error as DatalessError
      where error.code == "timed_out"
    {
      let waiting = await volume.whoWaits()
      throw DatalessError(
        error.message + (waiting.isEmpty ? "" : " Who waits:\n\(waiting)"), code: error.code, errno: "ETIMEDOUT")
    }
  }

  /// Waits until somebody is blocked here: `callers(1)`.
  public func wait(timeout: Duration = .seconds(10)) async throws { try await callers(1, timeout: timeout) }

  /// Lets what is held go on, or fail with `errno` (a name, such as `EIO`): all, the oldest `count`, or what is on
  /// paths that a glob matches. Throws `not_found` if the gate holds nothing of the kind.
  public func release(_ count: Int? = nil, errno: String? = nil, path: String? = nil) async throws {
    var words = ["gate", "release", volume.path, name]
    if let count { words += ["--count", "\(count)"] }
    if let errno { words += ["--fail", errno] }
    if let path { words += ["--path", path] }
    try await volume.command(words)
  }

  /// Lets go what it holds, and lets everything pass from now on.
  public func open() async throws { try await volume.command(["gate", "open", volume.path, name]) }

  /// Holds again what comes.
  public func close() async throws { try await volume.command(["gate", "close", volume.path, name]) }
}
