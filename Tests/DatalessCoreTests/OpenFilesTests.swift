import TestSupport
import Testing

@testable import DatalessCore

/// Open files beside a model: a list of opens.
@Suite struct OpenFilesTests {
  @Test(arguments: TestSeed.seeds) func aNumberIsOneFilesForGood(seed: UInt64) {
    var random = TestRandom(seed: seed)
    var table = OpenFileTable(blank: OpenFile.blank)
    var open: [UInt64: Int32] = [:]
    var closed: Set<UInt64> = [0]
    for step in 0..<30_000 as Range<Int32> {
      if random.oneIn(2), let number = open.keys.min(by: { $0 % 97 < $1 % 97 }) {
        #expect(table.remove(number)?.openFlags == open.removeValue(forKey: number), "seed \(seed)")
        closed.insert(number)
      } else {
        let number = table.insert(
          OpenFile(node: NodeIndex(rawValue: 1), openFlags: step, mode: .cached, content: .none))
        #expect(!closed.contains(number) && open[number] == nil && number < 1 << 52, "given twice, seed \(seed)")
        open[number] = step
      }
      if step % 1000 == 0 {
        for (number, flags) in open { #expect(table[number]?.openFlags == flags, "seed \(seed)") }
        for number in closed {
          #expect(table[number] == nil && table.remove(number) == nil, "closed twice, seed \(seed)")
        }
      }
    }
    #expect(table.count == open.count)
  }

  @Test func numbersThatNobodyWasGivenAreNobodys() {
    var table = OpenFileTable(blank: OpenFile.blank)
    let number = table.insert(OpenFile(node: .root, openFlags: 0, mode: .cached, content: .none))
    for bit in 0..<64 as Range<UInt64> {
      let other = number ^ 1 << bit
      #expect(table[other] == nil && table.remove(other) == nil)
    }
    #expect(table[number] != nil)
  }

  @Test func aPlaceThatIsUsedUpIsLeft() {
    var table = OpenFileTable(blank: OpenFile.blank)
    var numbers: Set<UInt64> = []
    for _ in 0...OpenFileTable<OpenFile>.useMax + 10 {
      let number = table.insert(OpenFile(node: .root, openFlags: 0, mode: .cached, content: .none))
      numbers.insert(number)
      _ = table.remove(number)
    }
    #expect(numbers.count == Int(OpenFileTable<OpenFile>.useMax) + 11)
    #expect(numbers.allSatisfy { $0 < 1 << 52 })
  }

  private struct Open {
    let node: NodeIndex
    let handle: UInt64
    var content: ContentID
  }

  /// Random opens, reads, losses of content and closes: content is given back once, when its last reader has closed.
  @Test(arguments: TestSeed.seeds) func leasedContentStaysUntilItsLastReaderHasClosed(seed: UInt64) {
    var random = TestRandom(seed: seed)
    var files = OpenFiles()
    var opens: [Open] = []
    var current: [NodeIndex: ContentID] = [:]
    var lost: Set<ContentID> = []
    var next: UInt64 = 0
    func freed(_ content: ContentID?) {
      guard let content else { return }
      #expect(lost.remove(content) != nil, "given back twice, or while it has a file, seed \(seed)")
      #expect(!opens.contains { $0.content == content }, "given back while somebody reads it, seed \(seed)")
    }
    for _ in 0..<20_000 {
      let node = NodeIndex(rawValue: UInt32(1 + random.below(4)))
      switch random.below(6) {
      case 0, 1:
        let content = current[node] ?? .none
        let handle =
          switch random.below(3) {
          case 0: files.open(node, openFlags: 0, content: content)
          case 1: files.openPassthrough(node, openFlags: 0, content: content)
          default:
            files.openWatched(
              node, process: .unknown, openFlags: 0, content: content, io: .direct, pagesBefore: false)
          }
        opens.append(Open(node: node, handle: handle, content: content))
      case 2:
        guard let index = opens.indices.randomElement(using: &random), let content = current[opens[index].node] else {
          continue
        }
        opens[index].content = content
        freed(files.lease(content, by: opens[index].handle))
      case 3:
        next += 1
        if let old = current.updateValue(ContentID(rawValue: next), forKey: node) {
          lost.insert(old)
          if files.giveUp(old, of: node) { freed(old) }
        }
      default:
        guard let index = opens.indices.randomElement(using: &random) else { continue }
        let open = opens.remove(at: index)
        freed(files.close(open.node, handle: open.handle).content)
        let again = files.close(open.node, handle: open.handle)
        #expect(again.content == nil && !again.isLast && again.waiters.isEmpty, "seed \(seed)")
      }
      let count = opens.count { $0.node == node }
      #expect(files.count(of: node) == count, "seed \(seed)")
      for content in lost {
        #expect(opens.contains { $0.content == content }, "content that nobody reads is kept, seed \(seed)")
      }
    }
    for open in opens.indices.reversed() {
      let open = opens.remove(at: open)
      freed(files.close(open.node, handle: open.handle).content)
    }
    #expect(lost.isEmpty && files.openNow == OpenModes(), "seed \(seed)")
  }

  @Test func aStaleHandleClosesNothing() {
    let fixture = EngineFixture(ScriptedStore(["a": 10, "b": 10]))
    let (node, other) = (fixture.node("a"), fixture.node("b"))
    for node in [node, other] { fixture.trigger(node) }
    fixture.lane.runAll()
    let first = fixture.open(node)
    fixture.engine.release(node, handle: first)
    let second = fixture.open(node)
    #expect(first != second)
    fixture.engine.release(node, handle: first)
    fixture.engine.release(node, handle: 0)
    fixture.engine.release(other, handle: second)
    #expect(fixture.engine.opens.now.pageCache == 1)
    fixture.engine.evict(node, by: "command") { result in
      if case .refused = result { Issue.record("refused before its time") }
    }
    fixture.lane.runAll()
    #expect(fixture.content.items == 2, "still open")
    fixture.engine.release(node, handle: second)
    fixture.lane.runAll()
    #expect(fixture.content.items == 1)
    #expect(fixture.engine.opens.now == OpenModes())
  }
}
