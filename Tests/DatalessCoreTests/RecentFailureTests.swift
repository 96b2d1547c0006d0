import DatalessCore
import SystemPackage
import Testing

/// The kernel's own repeats of a read that failed, as they were measured on Linux 6.18: one try of a caller is one
/// attempt.
@Suite struct RecentFailureTests {
  /// What the kernel asks for in one try of a caller: a readahead, or the page at an offset.
  enum Asked {
    case ahead(Int64)
    case page(Int64)
  }
  struct Way: CustomTestStringConvertible {
    let testDescription: String
    let wait: PageWait
    let size: Int
    let tries: [[Asked]]
    init(_ name: String, _ wait: PageWait, _ size: Int, _ tries: [[Asked]]) {
      (testDescription, self.wait, self.size, self.tries) = (name, wait, size, tries)
    }
  }

  static let page = Asked.page(0)
  static let middle = Asked.page(8192)
  static let ways = [
    Way("touch", .fault, 50_000, [[.ahead(53_248), page, page], [page, page, page], [page, page, page]]),
    Way("touch another page", .fault, 50_000, [[.ahead(53_248), middle, middle], [middle, middle, middle]]),
    Way("touch, without readahead", .fault, 50_000, [[page, page], [page, page, page], [page, page, page]]),
    Way("touch the only page", .fault, 3000, [[page, page, page], [page, page, page]]),
    Way("write from it", .faultInCall, 50_000, [[.ahead(53_248), page, page], [page, page], [page, page]]),
    Way("write from it, without readahead", .faultInCall, 50_000, [[page, page], [page, page]]),
    Way("write from the only page", .faultInCall, 3000, [[page, page, page], [page, page], [page, page]]),
    Way(
      "open what it names", .faultInPath, 50_000,
      [[.ahead(53_248), page, page, page, page], [page, page, page, page], [page, page, page, page]]),
    Way("sendfile", .call, 50_000, [[.ahead(16_384), page], [page], [page]]),
    Way("sendfile, without readahead", .call, 50_000, [[page, page], [page]]),
    Way("sendfile of the only page", .call, 3000, [[page, page], [page]]),
  ]

  /// A READ as the adapter handles it. - Returns: Whether it was an attempt of its own.
  private func read(
    _ fixture: EngineFixture, _ node: NodeID, _ asked: Asked, _ wait: PageWait, thread: Int32 = 10, handle: UInt64 = 0
  ) -> Bool {
    let (offset, length): (Int64, Int64) =
      switch asked {
      case .ahead(let length): (0, length)
      case .page(let offset): (offset, 4096)
      }
    let answer = fixture.engine.read(
      node, handle: handle, offset: offset, length: length, isDirect: false, threadID: thread)
    if case .repeatedFailure = answer { return false }
    fixture.trigger(
      node,
      TriggerRequest(
        trigger: .read, caller: EngineFixture.caller(thread), offset: offset, length: length, handle: handle,
        io: .pageCache, pageWait: wait))
    fixture.lane.runAll()
    return true
  }

  @Test(arguments: ways) func eachTryOfACallerIsOneAttempt(way: Way) {
    let fixture = EngineFixture(ScriptedStore(["a": way.size]))
    let node = fixture.node("a")
    fixture.store.edit("a") { $0.failure = FSError(.ioError, "always") }
    for (index, asked) in way.tries.enumerated() {
      let attempts = asked.map { read(fixture, node, $0, way.wait) }
      #expect(attempts == [true] + Array(repeating: false, count: asked.count - 1), "try \(index)")
    }
  }

  /// Evicted, its pages are gone: the next failure begins with a readahead.
  @Test func anEvictedFileHasNoPagesThatWereReadInVain() {
    let fixture = EngineFixture(ScriptedStore(["a": 3000]))
    let node = fixture.node("a")
    func attempts(_ count: Int) -> [Bool] { (0..<count).map { _ in read(fixture, node, Self.page, .call) } }
    fixture.store.edit("a") { $0.failure = FSError(.ioError, "once") }
    #expect(attempts(3) == [true, false, true])
    fixture.store.edit("a") { $0.failure = nil }
    #expect(attempts(1) == [true])
    fixture.engine.evict(node, by: "test") { _ in }
    fixture.store.edit("a") { $0.failure = FSError(.ioError, "again") }
    #expect(attempts(3) == [true, false, true])
  }

  /// Callers of other pid namespaces all have thread 0: what they have open tells them apart.
  @Test func theFailureOfACallerWithoutAThreadAnswersNobodyElse() {
    let fixture = EngineFixture(ScriptedStore(["a": 50_000]))
    let node = fixture.node("a")
    fixture.store.edit("a") { $0.failure = FSError(.ioError, "always") }
    #expect(read(fixture, node, .ahead(53_248), .fault, thread: 0, handle: 7))
    #expect(read(fixture, node, Self.page, .fault, thread: 0, handle: 8))
    #expect(read(fixture, node, Self.page, .fault, thread: 0, handle: 0))
    #expect(read(fixture, node, Self.page, .fault, thread: 0, handle: 0), "of whom nothing is known")
    #expect(!read(fixture, node, Self.page, .fault, thread: 0, handle: 7))
    #expect(!read(fixture, node, Self.page, .fault, thread: 0, handle: 7))
    #expect(read(fixture, node, Self.page, .fault, thread: 0, handle: 7))
  }

  /// A call by path names nothing that is open.
  @Test func aCallByPathOfACallerWithoutAThreadIsNotRepeatedForAnother() {
    let fixture = EngineFixture(ScriptedStore(["a": 10]))
    let node = fixture.node("a")
    fixture.store.edit("a") { $0.failure = FSError(.staleNFSFileHandle, "changed") }
    for thread: Int32 in [0, 5] {
      fixture.trigger(node, TriggerRequest(trigger: .xattr, caller: EngineFixture.caller(thread)))
      fixture.lane.runAll()
      #expect((fixture.engine.repeatedFailure(node, threadID: thread) != nil) == (thread == 5))
    }
  }

  /// Each in constant time: thousands, each at its own page, fail together, and all are remembered for their moment.
  @Test func thousandsThatFailTogetherAreEachRepeatedOnce() {
    let threads: Range<Int32> = 1..<2001
    let fixture = EngineFixture(ScriptedStore(["a": 4096 * threads.count]))
    let node = fixture.node("a")
    fixture.store.edit("a") { $0.failure = FSError(.ioError, "always") }
    for thread in threads {
      fixture.trigger(
        node,
        TriggerRequest(
          trigger: .read, caller: EngineFixture.caller(thread), offset: Int64(thread - 1) * 4096, length: 4096,
          handle: 0, io: .pageCache))
    }
    fixture.lane.runAll()
    for thread in threads where read(fixture, node, .page(Int64(thread - 1) * 4096), .call, thread: thread) {
      Issue.record("thread \(thread) got an attempt of its own")
    }
    fixture.timer.advance(milliseconds: 51)
    #expect(read(fixture, node, Self.page, .call, thread: 1))
  }
}
