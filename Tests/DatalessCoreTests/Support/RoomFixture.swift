@testable import DatalessCore
import Synchronization
import SystemPackage

/// A volume with a limit on local content.
extension EngineFixture {
  static let page = 4096

  static func limited(
    _ quota: Int?, _ files: [String: Int], links: [(String, to: String)] = [],
    writing: EngineConfiguration.Writing = .readOnly, concurrency: Int? = nil
  ) -> EngineFixture {
    var configuration = EngineConfiguration()
    configuration.simulation.quota = quota.map(Int64.init)
    configuration.simulation.concurrency = concurrency
    configuration.writing = writing
    let clock = TestClock()
    configuration.timeOfDay = { clock.now }
    let fixture = EngineFixture(ScriptedStore(files, links: links), configuration)
    for path in files.keys.sorted() { _ = fixture.node(path) }
    return fixture
  }

  /// Reads a file as a program does: opens it, materializes it, closes it, and lets time pass. - Returns: The errno.
  @discardableResult
  func read(_ path: String, keepsOpen: Bool = false) -> String? {
    let node = node(path)
    let handle = open(node)
    let answer = trigger(node)
    settle(answer)
    if !keepsOpen {
      engine.release(node, handle: handle)
      lane.runAll()
    }
    return answer.isReady ? nil : answer.errno ?? "no answer"
  }

  /// Runs what there is to run until an answer has come, for at most a minute.
  func settle(_ answer: Answer? = nil) {
    lane.runAll()
    var looks = 0
    while let answer, answer.count == 0, looks < 600 {
      timer.advance(milliseconds: 100) { [lane] in lane.runAll() }
      looks += 1
    }
    timer.advance(milliseconds: 0) { [lane] in lane.runAll() }
  }

  func isResident(_ path: String) -> Bool { !engine.isDataless(node(path)) }

  /// Those of some files that are resident.
  func resident(_ paths: [String]) -> [String] { paths.filter { isResident($0) } }

  /// What was evicted, and why.
  var evictions: [String] {
    events.all.compactMap { event in
      guard case .evictionFinished(let record) = event else { return nil }
      return "\(String(decoding: record.path, as: UTF8.self)) \(record.by)"
    }
  }

  func setQuota(_ quota: Int?) {
    var simulation = engine.simulation
    simulation.quota = quota.map(Int64.init)
    engine.apply(simulation, restartsClock: false)
    lane.runAll()
  }

  /// - Returns: Why an item was not evicted; nil if it was.
  func refusal(_ path: String) -> EvictionRefusal? {
    let answer = Mutex<EvictionRefusal?>(nil)
    engine.evict(node(path), by: "command") { result in
      if case .refused(let refusal) = result { answer.withLock { $0 = refusal } }
    }
    lane.runAll()
    timer.advance(milliseconds: 300) { [lane] in lane.runAll() }
    return answer.withLock { $0 }
  }

  func press(_ bytes: Int) -> PressureResult {
    let answer = Mutex(PressureResult())
    engine.relieve(PressureSweep(Int64(bytes))) { result in answer.withLock { $0 = result } }
    lane.runAll()
    return answer.withLock { $0 }
  }
}
