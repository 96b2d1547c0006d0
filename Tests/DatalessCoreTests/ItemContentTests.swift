@testable import DatalessCore
import TestSupport
import Testing

/// `ItemContent` beside a model that says the same in another way: lists of attempts and transfers, and a set of pages.
@Suite struct ItemContentTests {
  private static let unit: Int64 = 4096
  private static let size: Int64 = 8 * 4096

  /// What the random operations have done, said plainly.
  private struct Model {
    struct Attempt {
      let range: Range<Int64>?
      let isRanged: Bool
      /// The content that it writes to, while it does.
      var transfer: UInt64?
    }
    var attempts: [UInt64: Attempt] = [:]
    var isWhole = false
    var isDirty = false
    /// Pages that are there, of the content `current`.
    var pages: Set<Int64> = []
    var current: UInt64?
    /// Content that was made and has not been removed, with those who write to it.
    var writers: [UInt64: Int] = [:]

    var state: ContentState {
      if isWhole { return .resident }
      if !attempts.isEmpty { return .materializing }
      return pages.isEmpty ? .dataless : .partial
    }
  }

  /// The two side by side.
  private struct Pair {
    var content = ItemContent(ItemContent.Cell(state: .dataless))
    var contents = ItemContents()
    var model = Model()
    static let first: UInt64 = 1
    var next: UInt64 = 1

    /// No content has id 0.
    static func reference(_ id: UInt64) -> ContentID { ContentID(rawValue: id - first) }
    static func id(_ reference: ContentID) -> UInt64 { reference.rawValue + first }

    mutating func number() -> UInt64 {
      next += 1
      return next
    }

    mutating func remove(_ id: UInt64) {
      #expect(model.writers[id] == 0, "content \(id) is removed while somebody writes to it, or twice")
      model.writers[id] = nil
      if model.current == id {
        model.current = nil
        model.pages = []
      }
    }

    mutating func settle(_ dropped: ItemContent.Dropped?) {
      guard let dropped else { return }
      if model.current == Self.id(dropped.reference) {
        model.current = nil
        model.pages = []
      }
      if let reference = contents.giveUp(dropped) { remove(Self.id(reference)) }
    }

    mutating func begin(_ random: inout SeededGenerator) {
      let isPart = random.next() % 2 == 0
      let first = Int64(random.next() % 8)
      let range = isPart ? first * unit..<min(size, (first + 1 + Int64(random.next() % 3)) * unit) : nil
      // Whoever comes joins an attempt for the whole, or finds all there.
      if model.isWhole || model.attempts.values.contains(where: { $0.range == nil }) { return }
      let id = number()
      let isRanged = content.isInRanges || isPart || random.next() % 2 == 0
      content.begin(AttemptID(rawValue: id), range: range)
      model.attempts[id] = Model.Attempt(range: range, isRanged: isRanged)
    }

    mutating func share(_ id: UInt64) {
      guard let attempt = model.attempts[id], attempt.isRanged, attempt.transfer == nil else { return }
      let made = number()
      let shared = content.lease(generation: 1) {
        RangedContent(id: made, reference: Self.reference(made), size: size)
      }
      guard let shared else {
        Issue.record("no content although room was made")
        return
      }
      if shared.id == made {
        #expect(model.current == nil)
        model.current = made
        model.writers[made] = 0
      }
      #expect(shared.id == model.current)
      model.writers[shared.id, default: 0] += 1
      model.attempts[id]?.transfer = shared.id
    }

    mutating func arrive(_ id: UInt64, _ random: inout SeededGenerator) {
      guard let attempt = model.attempts[id], let transfer = attempt.transfer else { return }
      let page = Int64(random.next() % 8)
      let isThere = content.arrived(page * unit..<(page + 1) * unit, in: transfer)
      #expect(isThere == (transfer == model.current))
      if isThere { model.pages.insert(page) }
    }

    /// The attempt ends; what it writes to is given back by the caller, now or later.
    mutating func end(_ id: UInt64, isOk: Bool) -> UInt64? {
      guard let attempt = model.attempts.removeValue(forKey: id) else { return nil }
      if !attempt.isRanged, isOk {
        let made = number()
        model.writers[made] = 0
        model.current = made
        content.commit(Self.reference(made), generation: 1)
      }
      let dropped = content.end(
        AttemptID(rawValue: id), range: attempt.range, isRanged: attempt.isRanged, isOk: isOk)
      if attempt.isRanged ? model.pages.count == 8 : isOk { model.isWhole = true }
      if let dropped {
        #expect(model.pages.isEmpty && model.attempts.isEmpty && !model.isWhole)
        settle(dropped)
      }
      return attempt.transfer
    }

    mutating func endTransfer(_ id: UInt64) {
      model.writers[id]? -= 1
      if content.endTransfer(in: id) {
        #expect(model.current == id)
      } else if let written = contents.endTransfer(in: id) {
        remove(written.id)
      }
    }

    /// A program writes to it: in place, or in a copy.
    mutating func write(inPlace: Bool) {
      let copy = inPlace ? content.cell.reference : Self.reference(number())
      let former = content.makeDirty(in: copy)
      guard model.isWhole, model.attempts.isEmpty, model.writers[model.current ?? 0] ?? 0 == 0 else {
        return #expect(former == nil && content.isDirty == model.isDirty)
      }
      model.isDirty = true
      guard !inPlace else { return #expect(former == nil) }
      guard let former else {
        Issue.record("the former content is not given up")
        return
      }
      remove(Self.id(former))
      model.current = Self.id(copy)
      model.pages = Set(0..<8)
      model.writers[Self.id(copy)] = 0
    }

    mutating func clean() {
      content.makeClean(generation: 2)
      model.isDirty = false
    }

    mutating func evict(isGone: Bool = false) {
      guard !content.isBeingWritten, !content.isDirty || isGone else { return }
      model.isDirty = false
      #expect(model.attempts.isEmpty)
      let bytes = model.isWhole ? size : Int64(model.pages.count) * unit
      let dropped = content.evict(size: size)
      #expect(dropped?.bytes ?? 0 == bytes)
      model.isWhole = false
      settle(dropped)
      #expect(content.work.isNone && model.current == nil)
    }

    func check() {
      #expect(content.state == model.state)
      #expect(content.isBusy == !model.attempts.isEmpty)
      #expect(content.isDirty == model.isDirty && (!model.isDirty || content.state == .resident))
      let bytes = Int64(model.pages.count) * unit
      #expect(content.partialBytes == (model.isWhole || bytes == 0 ? nil : bytes))
      if let current = model.current { #expect(content.cell.reference == Self.reference(current)) }
    }
  }

  @Test(arguments: TestSeed.first(40))
  func randomOperationsGoAsTheModelHasIt(_ seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var pair = Pair()
    var late: [UInt64] = []
    for _ in 0..<2_000 {
      let attempts = pair.model.attempts.keys.sorted()
      let chosen = attempts.isEmpty ? 0 : attempts[Int(random.next() % UInt64(attempts.count))]
      switch random.next() % 20 {
      case 0...2: pair.begin(&random)
      case 3...5: pair.share(chosen)
      case 6...10: pair.arrive(chosen, &random)
      case 11, 12:
        if let transfer = pair.end(chosen, isOk: random.next() % 3 > 0) { late.append(transfer) }
      case 13, 14:
        if !late.isEmpty { pair.endTransfer(late.remove(at: Int(random.next() % UInt64(late.count)))) }
      case 15, 16: pair.write(inPlace: random.next() % 2 == 0)
      case 17: pair.clean()
      default: pair.evict(isGone: random.next() % 4 == 0)
      }
      pair.check()
    }
    for id in pair.model.attempts.keys.sorted() {
      if let transfer = pair.end(id, isOk: false) { late.append(transfer) }
    }
    for transfer in late { pair.endTransfer(transfer) }
    pair.evict(isGone: true)
    // Nothing that was made is left.
    #expect(pair.model.writers.isEmpty && pair.contents.isIdle, "seed \(seed)")
  }
}
