@testable import DatalessCore
import TestSupport
import Testing

/// Who is asked about what, and when an intent goes on.
@Suite struct PresentersTests {
  private static let names = ["", "a", "b", "a/x", "a/y", "a/x/1", "b/x"]

  private static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

  private static func lies(_ name: String, below other: String) -> Bool {
    name == other || other.isEmpty || name.hasPrefix(other + "/")
  }

  @Test(arguments: TestSeed.seeds) func whoIsConcernedIsWhatAModelSays(seed: UInt64) {
    var random = TestRandom(seed: seed)
    var presenters = Presenters()
    var model: [UInt64: String] = [:]
    for step in 0..<UInt64(3_000) {
      switch random.below(4) {
      case 0, 1:
        let name = random.element(of: Self.names)
        presenters.add(step, path: Self.bytes(name))
        model[step] = name
      case 2:
        guard let id = model.keys.sorted().randomElement(using: &random) else { continue }
        presenters.remove(id)
        model[id] = nil
      default:
        let (from, to) = (random.element(of: Self.names.dropFirst()), random.element(of: Self.names.dropFirst()))
        let moved = model.filter { Self.lies($0.value, below: from) }
        #expect(Set(presenters.rename(Self.bytes(from), to: Self.bytes(to))) == Set(moved.keys), "seed \(seed)")
        for (id, name) in moved { model[id] = to + name.dropFirst(from.count) }
        // Names grow with each rename of a directory into itself.
        for (id, name) in model where name.count > 20 {
          presenters.remove(id)
          model[id] = nil
        }
      }
      if model.count > 20, let id = model.keys.min() {
        presenters.remove(id)
        model[id] = nil
      }
      let name = random.element(of: Self.names)
      let expected = model.filter { Self.lies($0.value, below: name) || Self.lies(name, below: $0.value) }.map(\.key)
      #expect(presenters.concerned(by: Self.bytes(name)) == Set(expected), "seed \(seed)")
      #expect(presenters.isConcerned(by: Self.bytes(name)) == !expected.isEmpty, "seed \(seed)")
      #expect(presenters.count == model.count, "seed \(seed)")
    }
  }

  @Test func theFirstNameThatConcernsIsTold() {
    var presenters = Presenters()
    presenters.add(1, path: Self.bytes("a"))
    presenters.add(2, path: Self.bytes("b/x"))
    let claims = ["c", "b", "a/x", "a"].map { AccessClaim(Self.bytes($0), isWrite: true) }
    #expect(presenters.concerned(by: claims) == [1: 2, 2: 1])
  }

  private static func time(_ seconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: seconds * 1_000_000_000) }

  @Test func anIntentGoesOnWhenAllHaveAnswered() {
    var questions = PresenterQuestions()
    questions.ask([1, 2], about: 10, until: Self.time(5))
    questions.ask([2], about: 11, until: Self.time(6))
    #expect(questions.next == Self.time(5))
    #expect(questions.answer(1, about: 10) == (true, false))
    // Twice, for others, and about what nobody asked.
    #expect(questions.answer(1, about: 10) == (false, false))
    #expect(questions.answer(1, about: 11) == (false, false))
    #expect(questions.answer(3, about: 12) == (false, false))
    #expect(questions.isOpen(2, about: 10) && !questions.isOpen(1, about: 10))
    #expect(questions.answer(2, about: 10) == (true, true))
    #expect(questions.next == Self.time(6))
    #expect(questions.answer(2, about: 11) == (true, true))
    #expect(questions.next == nil)
  }

  @Test func whoIsGoneOrLateIsNotWaitedFor() {
    var questions = PresenterQuestions()
    questions.ask([1, 2], about: 10, until: Self.time(5))
    questions.ask([1], about: 11, until: Self.time(5))
    questions.ask([2, 3], about: 12, until: Self.time(7))
    #expect(questions.gone(1) == [11])
    #expect(questions.expire(at: Self.time(4)).isEmpty)
    let expired = questions.expire(at: Self.time(5))
    #expect(expired.map(\.intent) == [10] && expired.map(\.presenters) == [[2]])
    #expect(questions.withdraw(12) == [2, 3])
    #expect(questions.withdraw(12).isEmpty && questions.next == nil)
    #expect(questions.gone(2).isEmpty)
  }

  @Test func whoIsAskedLaterForLessTimeIsUpFirst() {
    var questions = PresenterQuestions()
    questions.ask([1], about: 10, until: Self.time(9))
    questions.ask([1], about: 11, until: Self.time(5))
    questions.ask([2], about: 12, until: Self.time(7))
    #expect(questions.next == Self.time(5))
    #expect(questions.expire(at: Self.time(6)).map(\.intent) == [11])
    #expect(questions.answer(2, about: 12) == (true, true) && questions.next == Self.time(9))
    #expect(questions.expire(at: Self.time(9)).map(\.intent) == [10] && questions.next == nil)
  }
}
