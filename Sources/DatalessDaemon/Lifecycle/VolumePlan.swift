public import DatalessControl
import DatalessCore
public import DatalessScenario
import Glibc

/// A volume as the user asked for it: parsed, not yet checked against the machine.
public struct VolumePlan: Sendable, Equatable {
  public var source: VolumeConfiguration.Source
  public var scenario: ScenarioDocument
  /// nil for a new file in the default directory.
  public var log: [UInt8]?
  /// nil for the user's default.
  public var cacheDirectory: [UInt8]?
  /// Where the volume is kept; nil if it is not.
  public var state: [UInt8]?
  public var allowOther: Bool
  public var crossMounts: Bool
  public var writing: VolumeConfiguration.Writing
  public var argumentPolicy: ArgumentPolicy
  public var without: [FastPath]
  public let session: String

  public init(
    source: VolumeConfiguration.Source, scenario: ScenarioDocument = .empty, log: [UInt8]? = nil,
    cacheDirectory: [UInt8]? = nil, state: [UInt8]? = nil, allowOther: Bool = false, crossMounts: Bool = false,
    writing: VolumeConfiguration.Writing = .readOnly, argumentPolicy: ArgumentPolicy = .callers,
    without: [FastPath] = [], session: String = SessionPaths.newSessionID()
  ) {
    self.source = source
    self.scenario = scenario
    self.log = log
    self.cacheDirectory = cacheDirectory
    self.state = state
    self.allowOther = allowOther
    self.crossMounts = crossMounts
    self.writing = writing
    self.argumentPolicy = argumentPolicy
    self.without = without
    self.session = session
  }

  /// Checks the plan and makes it a configuration: paths absolute, defaults filled in, the default log's directory
  /// made.
  ///
  /// The mount of a dead daemon at `mountpoint` is removed.
  ///
  /// - Parameters:
  ///   - run: For `dataless run` only.
  ///   - say: Receives a sentence for the user about what was cleaned up.
  /// - Throws: `LifecycleError` for everything that `MountPreflight` finds; `ScenarioError` for rules whose paths begin
  ///   with the mountpoint or SOURCE.
  public func configure(
    mountpoint: [UInt8], run: RunPlan? = nil, preflight: PreflightChild = PreflightChild(), say: (String) -> Void
  ) throws -> VolumeConfiguration {
    let runtime = SessionPaths.runtimeDirectory()
    let request = PreflightRequest(
      source: source, mountpoint: mountpoint, isTemporary: run != nil,
      log: log ?? state.map(Self.log(in:)) ?? defaultLog(),
      logIsDefault: log == nil && state == nil,
      cacheDirectory: cacheDirectory ?? Array(SessionPaths.cacheDirectory().utf8), state: state,
      runtimeDirectory: runtime,
      allowOther: allowOther, longestWait: scenario.simulation.longestWait)
    var answer = try preflight.inspect(request)
    if case .deadMount(let dead) = answer {
      try Unmounter.detachDead(dead)
      say("removed the mount of a dead daemon from \(ErrorText.quoted(dead)) (ENOTCONN)")
      StaleSessions.remove()
      answer = try preflight.inspect(request)
    }
    switch answer {
    case .failed(let message, let exitCode): throw LifecycleError(message, exitCode: exitCode)
    case .deadMount(let dead):
      throw LifecycleError(
        "cannot mount: another dead mount lay below the one removed from \(ErrorText.quoted(dead)). Try again."
      )
    case .passed(let result):
      try scenario.checkPaths(roots: roots(result, run == nil ? mountpoint : nil))
      try VolumeDirectory.prepareRuntime(runtime)
      if log == nil, state == nil { try Self.makeLogDirectory(CPath.parent(result.log)) }
      if let state = result.state { try Self.makeStateDirectory(state) }
      return configuration(result, runtime: runtime, run: run)
    }
  }

  /// What a path in a rule must not begin with, as it was given and as it is.
  ///
  /// - Parameter mountpoint: nil for one of our own, which nobody can have named.
  private func roots(_ result: PreflightResult, _ mountpoint: [UInt8]?) -> [(name: String, path: [UInt8])] {
    var roots: [(name: String, path: [UInt8])] = []
    if let mountpoint { roots += [mountpoint, result.mountpoint].map { ("the mountpoint", $0) } }
    for case .directory(let path) in [source, result.source] { roots.append(("SOURCE", path)) }
    return roots.filter { $0.path.first == UInt8(ascii: "/") }
  }

  /// A directory of logs is this user's, and nobody else writes to it.
  private static func makeLogDirectory(_ path: [UInt8]) throws(LifecycleError) {
    do throws(UntrustedPath) {
      _ = try TrustedDirectory.open(path, ancestors: .any, creating: true)
    } catch {
      throw LifecycleError(
        "cannot use the directory of logs: \(error). \(error.remedy(or: "give a file with --log"))")
    }
  }

  /// A state directory is this user's, and so are those above it, but for the system's.
  private static func makeStateDirectory(_ path: [UInt8]) throws(LifecycleError) {
    do throws(UntrustedPath) {
      _ = try TrustedDirectory.open(path, ancestors: .any, creating: true)
    } catch {
      throw LifecycleError(
        "cannot use the state directory: \(error). \(error.remedy(or: "give another one with --state"))")
    }
  }

  private func configuration(_ result: PreflightResult, runtime: String, run: RunPlan?) -> VolumeConfiguration {
    VolumeConfiguration(
      source: result.source, mountpoint: result.mountpoint,
      scenario: String(decoding: scenario.json(pretty: false), as: UTF8.self),
      subtype: scenario.simulation.presentation.subtype ?? MountEntry.datalessSubtype, log: result.log,
      logIsDefault: log == nil && state == nil, cacheDirectory: result.cacheDirectory,
      runtimeDirectory: runtime, allowOther: allowOther, crossMounts: crossMounts, writing: writing,
      state: result.state, session: session,
      excludedDirectories: result.excludedDirectories, argumentPolicy: argumentPolicy, without: without,
      warnings: result.warnings, run: run)
  }

  /// The log of a volume that is kept: each mount appends to it.
  private static func log(in state: [UInt8]) -> [UInt8] { PathBytes.join(state, Array("log".utf8)) }

  private func defaultLog() -> [UInt8] {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    return Array(
      "\(SessionPaths.logDirectory())/\(SessionPaths.logName(session: session, seconds: Int64(now.tv_sec)))".utf8)
  }
}

/// One volume as the lifecycle sees it: it starts, it is asked to end, it ends.
public protocol VolumeRunning: AnyObject, Sendable {
  /// Mounts and begins to serve; returns when a statfs of the volume would be answered.
  ///
  /// - Throws: Any error; its description becomes the one line that the command prints.
  func start() throws

  /// Asks the volume to end. Any thread, any number of times, never blocks; the first reason counts.
  func requestEnd(reason: String)

  /// Waits until an end was requested or the kernel ended the volume, then shuts down in bounded steps.
  ///
  /// Called once, on the main thread, after `start` returned.
  ///
  /// - Returns: The daemon's exit status.
  func runUntilEnded() -> Int32
}

/// The one place where the lifecycle meets the volume.
enum VolumeFactory {
  static func make(_ configuration: VolumeConfiguration) throws -> any VolumeRunning {
    try Volume(configuration: configuration)
  }
}
