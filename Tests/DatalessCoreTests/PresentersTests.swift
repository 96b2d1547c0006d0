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

  private static func presenting(_ paths: String...) -> Presenters {
    var presenters = Presenters()
    for (index, path) in paths.enumerated() { presenters.add(UInt64(index + 1), path: bytes(path)) }
    return presenters
  }

  private static func paths(_ presenters: Presenters) -> [String] {
    (1...UInt64(presenters.count)).map { String(decoding: presenters.path(of: $0) ?? [], as: UTF8.self) }
  }

  /// Each has the name that its own file has, whichever of the two is told first.
  @Test func thoseOfAnExchangeChangePlaces() {
    var presenters = Self.presenting("a", "b", "b/x")
    var renames = JoinedRenames()
    #expect(presenters.rename(Self.bytes("a"), to: Self.bytes("b"), with: &renames) == [1])
    #expect(presenters.rename(Self.bytes("b"), to: Self.bytes("a"), with: &renames) == [2, 3])
    #expect(Self.paths(presenters) == ["b", "a", "a/x"])
    // One that comes later is another one.
    #expect(presenters.rename(Self.bytes("b"), to: Self.bytes("c")) == [1])
  }

  @Test func aChainOfRenamesLeadsEachOneOn() {
    for pairs in [[("a", "b"), ("b", "c")], [("b", "c"), ("a", "b")]] {
      var presenters = Self.presenting("a", "b")
      var renames = JoinedRenames()
      for (from, to) in pairs { _ = presenters.rename(Self.bytes(from), to: Self.bytes(to), with: &renames) }
      #expect(Self.paths(presenters) == ["b", "c"])
    }
  }

  /// What has come into a directory goes with it, and is renamed in it; what was there under its name has left.
  @Test func whatHasComeIntoADirectoryGoesWithIt() {
    var presenters = Self.presenting("a", "d/a", "d/x")
    var renames = JoinedRenames()
    for (from, to) in [("a", "d/a"), ("d", "e"), ("e/a", "f"), ("e/x", "e/y")] {
      _ = presenters.rename(Self.bytes(from), to: Self.bytes(to), with: &renames)
    }
    #expect(Self.paths(presenters) == ["e/a", "f", "e/y"])
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
    #expect(expired == [.init(intent: 10, presenters: [2], saves: [])])
    #expect(questions.withdraw(12) == [2, 3])
    #expect(questions.withdraw(12).isEmpty && questions.next == nil)
    #expect(questions.gone(2).isEmpty)
  }

  @Test func nobodyGoesOnWhileAPresenterSaves() {
    var questions = PresenterQuestions()
    questions.ask([1, 2], about: 10, until: Self.time(5))
    questions.save(20, by: [1], before: 10)
    questions.save(21, by: [2], before: 10)
    // What nobody is asked about has nothing to wait for.
    questions.save(22, by: [1], before: 11)
    #expect(questions.answer(1, about: 10) == (false, false))
    #expect(!questions.isOpen(1, about: 10) && questions.saves(before: 10) == [20, 21])
    #expect(questions.saved(20) == [.init(intent: 10, answered: [1], goesOn: false)])
    #expect(questions.saved(21) == [.init(intent: 10, answered: [], goesOn: false)])
    #expect(questions.saved(22).isEmpty)
    #expect(questions.answer(2, about: 10) == (true, true))
    questions.ask([1, 2, 3], about: 12, until: Self.time(6))
    questions.save(23, by: [1], before: 12)
    questions.save(24, by: [2], before: 12)
    #expect(questions.answer(1, about: 12) == (false, false) && questions.gone(2).isEmpty)
    #expect(questions.expire(at: Self.time(6)) == [.init(intent: 12, presenters: [1, 3], saves: [23, 24])])
    #expect(questions.saved(23).isEmpty && questions.next == nil)
  }

  /// Beside a model that looks at all anew: what goes on when presenters answer, save, end, or have had their time.
  @Test(arguments: TestSeed.seeds) func whatGoesOnIsWhatAModelSays(seed: UInt64) {
    struct Model {
      var open: Set<UInt64>
      var early: Set<UInt64> = []
      var saves: [UInt64: UInt64] = [:]
      var until: Int64
      var isDone: Bool { open.isEmpty && early.isEmpty && saves.isEmpty }

      /// Whose answers count now.
      mutating func settle() -> Set<UInt64> {
        let answered = early.subtracting(saves.values)
        early.subtract(answered)
        return answered
      }
    }
    var random = TestRandom(seed: seed)
    var questions = PresenterQuestions()
    var model: [UInt64: Model] = [:]
    var (now, number, goneOn) = (Int64(0), UInt64(100), 0)
    for _ in 0..<5_000 {
      number += 1
      let presenter = UInt64(1 + random.below(4))
      let intent = model.keys.sorted().isEmpty ? 0 : random.element(of: model.keys.sorted())
      switch random.below(6) {
      case 0 where model.count < 6:
        let asked = Set((0...random.below(3)).map { _ in UInt64(1 + random.below(4)) })
        model[number] = Model(open: asked, until: now + 5)
        questions.ask(asked, about: number, until: Self.time(now + 5))
      case 1 where model[intent]?.open.contains(presenter) ?? false:
        model[intent]?.saves[number] = presenter
        questions.save(number, by: [presenter], before: intent)
      case 2:
        let save = model[intent]?.saves.keys.min() ?? number
        model[intent]?.saves[save] = nil
        let answered = model[intent]?.settle() ?? []
        let progress = questions.saved(save).first
        #expect(Set(progress?.answered ?? []) == answered, "seed \(seed)")
        #expect(progress?.goesOn ?? false == (progress != nil && model[intent]?.isDone ?? false), "seed \(seed)")
      case 3:
        let gone = questions.gone(presenter)
        for key in model.keys.sorted() {
          model[key]?.open.remove(presenter)
          model[key]?.early.remove(presenter)
        }
        #expect(Set(gone) == Set(model.filter { $0.value.isDone }.keys), "seed \(seed)")
      case 4:
        now += Int64(random.below(3))
        let due = model.filter { $0.value.until <= now }
        let expired = questions.expire(at: Self.time(now))
        #expect(Set(expired.map(\.intent)) == Set(due.keys), "seed \(seed)")
        for one in expired {
          #expect(Set(one.presenters) == due[one.intent]?.open.union(due[one.intent]?.early ?? []), "seed \(seed)")
          #expect(Set(one.saves) == due[one.intent].map { Set($0.saves.keys) }, "seed \(seed)")
          model[one.intent] = nil
        }
      default:
        let isOpen = model[intent]?.open.remove(presenter) != nil
        let isEarly = isOpen && model[intent]?.saves.values.contains(presenter) ?? false
        if isEarly { model[intent]?.early.insert(presenter) }
        let answer = questions.answer(presenter, about: intent)
        #expect(answer.wasAsked == (isOpen && !isEarly), "seed \(seed)")
        #expect(answer.isLast == (answer.wasAsked && model[intent]?.isDone ?? false), "seed \(seed)")
      }
      goneOn += model.count { $0.value.isDone }
      model = model.filter { !$0.value.isDone }
      for (key, value) in model { #expect(questions.saves(before: key) == value.saves.keys.sorted(), "seed \(seed)") }
    }
    #expect(goneOn > 200, "too little happened, seed \(seed)")
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
