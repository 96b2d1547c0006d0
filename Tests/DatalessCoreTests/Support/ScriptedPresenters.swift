import DatalessCore
import Synchronization

/// Presenters that answer when the test says so.
final class ScriptedPresenters: ItemPresenters {
  private struct State {
    var presenters = Presenters()
    var asked: [String] = []
    var untils: [MonotonicTime?] = []
    var waiting: [@Sendable () -> Void] = []
    var ended: [UInt64] = []
    var last: UInt64 = 0
  }

  private let state = Mutex(State())

  /// - Parameter paths: What is presented, each by one.
  init(_ paths: String...) {
    state.withLock { state in
      for (index, path) in paths.enumerated() {
        state.presenters.add(UInt64(index) + 1, path: Array(path.utf8))
      }
    }
  }

  // MARK: - What the test says and sees

  /// `evict a b`: each question, with what of it concerns somebody.
  var asked: [String] { state.withLock { $0.asked } }
  /// Until when each of them is waited for, as the engine has it.
  var untils: [MonotonicTime?] { state.withLock { $0.untils } }
  var ended: [UInt64] { state.withLock { $0.ended } }

  /// All that were asked answer, or have had their time.
  func answer() {
    let waiting = state.withLock { state in
      defer { state.waiting = [] }
      return state.waiting
    }
    for goOn in waiting { goOn() }
  }

  // MARK: - ItemPresenters

  var areThere: Bool { state.withLock { !$0.presenters.isEmpty } }

  func look(_ completion: @escaping @Sendable (Presenters) -> Void) {
    completion(state.withLock { $0.presenters })
  }

  func ask(_ question: ItemQuestion, goOn: @escaping @Sendable ([Int], UInt64?) -> Void) {
    let presenters = state.withLock { $0.presenters }
    let all = Array(question.paths.indices)
    let concerned = all.filter { presenters.isConcerned(by: question.paths[$0]) }
    guard !concerned.isEmpty else { return goOn(all, nil) }
    let held = question.splits ? concerned : all
    let free = all.filter { !held.contains($0) }
    if !free.isEmpty { goOn(free, nil) }
    let words = concerned.map { String(decoding: question.paths[$0], as: UTF8.self) }
    state.withLock { state in
      state.last += 1
      let number = state.last
      state.asked.append("\(question.what) \(words.joined(separator: " "))")
      state.untils.append(question.until)
      state.waiting.append { goOn(held, number) }
    }
  }

  func end(_ number: UInt64) { state.withLock { $0.ended.append(number) } }
}
