@testable import DatalessCore
import Synchronization
import Testing

/// Says where content of an earlier run lies, and keeps nothing else.
final class ScriptedSavedState: SavedState {
  private let places: Mutex<[[UInt8]]>
  /// How often the places were asked for.
  let asked = Atomic<Int>(0)
  let highestInode: UInt64 = 0

  init(_ places: [String]) { self.places = Mutex(places.map { Array($0.utf8) }) }

  func set(_ places: [String]) { self.places.withLock { $0 = places.map { Array($0.utf8) } } }

  func placesOfContent() throws(FSError) -> [[UInt8]] {
    asked.add(1, ordering: .relaxed)
    return places.withLock { $0 }
  }

  func saved(of directory: ChangedItem) throws(FSError) -> SavedDirectory { SavedDirectory() }
  func savedItem(_ item: ChangedItem) throws(FSError) -> SavedItem? { nil }
  func hasChanges(below directory: SavedItemID) throws(FSError) -> Bool { false }
  func hasChanges(below directory: ChangedItem) throws(FSError) -> Bool { false }
  func drop(_ directory: SavedItemID) {}
  func writing(below directory: ChangedItem) throws(FSError) -> SavedWriting { SavedWriting() }
  func adopt(_ item: SavedItemID, as node: NodeID) {}
}

extension EngineFixture {
  /// A volume with content of an earlier run in `d1` and `d2`.
  ///
  /// - Parameter isSlow: Whether listing the first takes 300 s.
  static func withSavedContent(
    quota: Int? = nil, isSlow: Bool = true
  ) throws -> (fixture: EngineFixture, saved: ScriptedSavedState) {
    let saved = ScriptedSavedState(["d1/x", "d2/y"])
    var configuration = EngineConfiguration()
    configuration.savedState = saved
    configuration.simulation.quota = quota.map(Int64.init)
    var rule = Rule(name: "slow", match: RuleMatch(), effects: RuleEffects())
    rule.match.paths = [try #require(PathPattern(Array("d1".utf8)))]
    rule.match.kind = .directory
    rule.effects.latency = LatencyModel(.fixed(.seconds(300)))
    if isSlow { configuration.simulation.rules = RuleSet([rule]) }
    let files = ["d1/x": page, "d2/y": page, "e/f": page, "e/g": page]
    return (EngineFixture(ScriptedStore(files), configuration), saved)
  }
}
