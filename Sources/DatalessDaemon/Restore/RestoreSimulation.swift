public import DatalessCore
public import DatalessState
import DatalessScenario
import DatalessStores
import Glibc
import SystemPackage

/// A state directory made into what it would be after a restore from a backup: what the backup has not is absent, and
/// content that can be fetched again is dataless.
///
/// It is done by an engine without a kernel, on one thread: names are removed as a program would remove them.
public final class RestoreSimulation {
  /// What became of the files.
  public struct Report: Sendable, Equatable {
    /// In the backup.
    public var files: Int64 = 0
    public var bytes: Int64 = 0
    /// Of these, what programs had written: its content is here.
    public var writtenFiles: Int64 = 0
    public var writtenBytes: Int64 = 0
    /// Absent, by reason: `area`, `mark` or `directory`.
    public var absent: [String: Count] = [:]
    public var failures: [Failure] = []
    public var failureCount: Int64 = 0

    public struct Count: Sendable, Equatable {
      public var files: Int64 = 0
      public var bytes: Int64 = 0
    }

    public struct Failure: Sendable, Equatable {
      public var path: [UInt8]
      public var error: FSError
    }

    mutating func fail(_ path: [UInt8], _ error: FSError) {
      failureCount += 1
      if failures.count < 1_000 { failures.append(Failure(path: path, error: error)) }
    }
  }

  private let engine: Engine
  private let state: StateVolume
  private let lane = TurnLane()
  private let timer = ThreadTimerLane()
  private let progress: (Int64) throws(FSError) -> Void
  private var report = Report()
  private var met: Int64 = 0

  private static let caller = Caller(
    process: .unknown, threadID: 0, pid: 0, isMainThread: false, uid: UInt32(geteuid()), gid: UInt32(getegid()))

  /// - Parameters:
  ///   - directory: Opened with `.repair`: a copy, which is changed.
  ///   - source: As the directory names it.
  ///   - areas: nil: those that the directory keeps, as for a mount whose scenario says none.
  ///   - progress: Called with how many items were met, now and then; what it throws ends the work.
  private init(
    _ directory: StateDirectory, source: String, areas: Areas?, progress: @escaping (Int64) throws(FSError) -> Void
  ) throws(FSError) {
    let store = try LocalStore(source: FilePath(source))
    state = try StateVolume(directory, source: source, root: store.root, lane: lane, timer: timer)
    var configuration = EngineConfiguration()
    configuration.writing = .kept
    configuration.journal = state.journal
    configuration.savedState = state
    configuration.firstMadeNumber = state.nextMadeNumber
    configuration.timeOfDay = { Timestamp.timeOfDay }
    if let areas {
      configuration.simulation.areas = areas
    } else {
      configuration.simulation.areas = try Self.keptAreas(of: state)
    }
    engine = Engine(
      configuration: configuration, store: .blocking(store), content: state.content, timer: timer, blocking: lane,
      metadata: lane, kernel: NoKernel(), events: NoEvents(), signals: NoSignals(), processes: NoProcesses())
    self.progress = progress
    try engine.restoreRoot()
  }

  private static func keptAreas(of state: StateVolume) throws(FSError) -> Areas {
    guard let kept = try state.keptAreas() else { return .none }
    do throws(ScenarioError) {
      let text = Array(#"{"areas":"#.utf8) + kept + [UInt8(ascii: "}")]
      return try ScenarioDocument(parsing: text, name: "the kept areas").simulation.areas
    } catch {
      throw FSError(
        .invalidArgument, "the areas that the state directory has are none. Give others with --scenario. \(error)")
    }
  }

  /// - Throws: EINVAL (of another SOURCE; kept areas that are none), EIO, ENOSPC, EINTR, what SOURCE says.
  public static func run(
    _ directory: StateDirectory, source: String, areas: Areas?,
    progress: @escaping (Int64) throws(FSError) -> Void = { (_) throws(FSError) in }
  ) throws(FSError) -> Report {
    let run = try RestoreSimulation(directory, source: source, areas: areas, progress: progress)
    let failure: FSError?
    do throws(FSError) {
      try run.visit(.root, path: [], isMarked: run.mark(of: .root) != nil)
      failure = nil
    } catch {
      failure = error
    }
    run.engine.end(FSError(.timedOut, "the restore has ended"))
    run.lane.runAll()
    try run.state.close()
    run.lane.runAll()
    if let failure { throw failure }
    return run.report
  }

  // MARK: - The walk

  private struct Child {
    let node: NodeID
    let name: [UInt8]
    let kind: ItemKind
    let isResident: Bool
    let isDirty: Bool
    let size: Int64
  }

  private func visit(_ directory: NodeID, path: [UInt8], isMarked: Bool) throws(FSError) {
    if let error = bring(directory) { return report.fail(path, error) }
    for child in children(of: directory) {
      let childPath = path.isEmpty ? child.name : path + [UInt8(ascii: "/")] + child.name
      met += 1
      if met % 1_000 == 0 { try progress(met) }
      let place = engine.simulation.areas.place(of: childPath)
      let area = place.map { engine.simulation.areas.area($0) }
      let isInArea = area?.isBackedUp ?? true
      let bearsMark = !isMarked && (isInArea || child.kind == .directory) && mark(of: child.node) != nil
      let reason = !isInArea ? "area" : bearsMark ? "mark" : isMarked ? "directory" : nil
      guard child.kind == .directory else {
        if let reason { remove(child, in: directory, path: childPath, reason) } else { keep(child) }
        continue
      }
      try visit(child.node, path: childPath, isMarked: isMarked || bearsMark)
      // The directory of an area itself is made anew by a system.
      let depth = childPath.split(separator: UInt8(ascii: "/")).count
      guard reason != nil, bearsMark || isMarked || area?.path.count != depth else { continue }
      // Not empty: in it is something that a backup has.
      _ = settle { [engine] in engine.removeDirectory($0, in: directory, by: Self.caller) }(child.name)
    }
  }

  private func children(of directory: NodeID) -> [Child] {
    let hold = engine.hold(directory)
    defer { withExtendedLifetime(hold) {} }
    var found: [Child] = []
    var position = DirectoryPosition.start
    while case .children(let page) = engine.children(of: directory, after: position, limit: 256), let last = page.last {
      position = last.position
      for entry in page {
        let item = entry.item
        let name = item.path.split(separator: UInt8(ascii: "/")).last.map(Array.init) ?? []
        found.append(
          Child(
            node: item.node, name: name, kind: item.attributes.kind, isResident: item.state == "resident",
            isDirty: item.isDirty, size: item.attributes.kind == .file ? item.attributes.size : 0))
      }
    }
    return found
  }

  private func keep(_ child: Child) {
    report.files += 1
    report.bytes += child.size
    if child.isDirty {
      report.writtenFiles += 1
      report.writtenBytes += child.size
    } else if child.isResident, child.size > 0 {
      // It comes again from where it came. What stays here, pinned say, stays.
      engine.evict(child.node, by: "command") { _ in }
      lane.runAll()
    }
  }

  private func remove(_ child: Child, in directory: NodeID, path: [UInt8], _ reason: String) {
    if let errno = settle({ [engine] in engine.unlink($0, in: directory, by: Self.caller) })(child.name) {
      return report.fail(path, FSError(errno, "cannot be left out"))
    }
    report.absent[reason, default: Report.Count()].files += 1
    report.absent[reason, default: Report.Count()].bytes += child.size
  }

  // MARK: - Calls

  private func mark(of node: NodeID) -> BackupMark? {
    var found: BackupMark?
    let answer = Answer<BackupMark?>()
    engine.backupMark(of: node) { answer.set($0) }
    lane.runAll()
    found = answer.value ?? nil
    return found
  }

  /// Lists a directory. - Returns: Why it cannot be.
  private func bring(_ node: NodeID) -> FSError? {
    let answer = Answer<WaitResult>()
    let request = TriggerRequest(trigger: .command, caller: Self.caller)
    met += 1
    switch engine.materialize(
      node, request, waiter: WaiterID(rawValue: UInt64(met)), completion: { answer.set($0) })
    {
    case .ready: return nil
    case .failed(let error): return error
    case .parked: lane.runAll()
    }
    switch answer.value {
    case .ready: return nil
    case .failed(let error): return error
    case nil: return FSError(.ioError, "the listing has not ended")
    }
  }

  /// - Returns: A call by a name, which lists what has to be listed first, and answers with the errno, or nil.
  private func settle(
    _ call: @escaping (UnsafeBufferPointer<UInt8>) -> ChangeAnswer
  ) -> ([UInt8]) -> Errno? {
    { [self] name in
      defer { lane.runAll() }
      while true {
        switch name.withUnsafeBufferPointer(call) {
        case .done: return nil
        case .failed(let errno): return errno
        case .needsListing(let node), .needsEmptiness(let node): if let error = bring(node) { return error.errno }
        }
      }
    }
  }
}
