import DatalessCore
import Synchronization
import Testing

/// How metadata looks, by the presentation.
@Suite struct EnginePresentationTests {
  private func fixture(
    _ files: [String: Int] = ["a": 10_000, "empty": 0], _ edit: (inout Presentation) -> Void
  ) -> EngineFixture {
    var configuration = EngineConfiguration()
    edit(&configuration.simulation.presentation)
    let clock = Clock()
    configuration.timeOfDay = { clock.next() }
    return EngineFixture(ScriptedStore(files), configuration)
  }

  /// 1001, 1002, ... seconds since 1970.
  private final class Clock: Sendable {
    private let seconds = Atomic<Int>(1000)
    func next() -> Timestamp {
      Timestamp(seconds: Int64(seconds.add(1, ordering: .relaxed).newValue), nanoseconds: 5)
    }
  }

  private func change(_ fixture: EngineFixture, _ edit: (inout Presentation) -> Void) {
    var simulation = fixture.engine.simulation
    edit(&simulation.presentation)
    fixture.engine.apply(simulation, restartsClock: false)
  }

  @Test(arguments: Presentation.Blocks.allCases)
  func blocksOfADatalessFile(blocks: Presentation.Blocks) throws {
    let fixture = fixture { $0.blocks = blocks }
    let node = fixture.node("a")
    let source = try #require(fixture.store.items.withLock { $0["a"]?.attributes.blocks })
    let expected = [Presentation.Blocks.zero: 0, .one: 1, .real: source][blocks]
    #expect(fixture.engine.attributes(of: node)?.attributes.blocks == expected)
    #expect(fixture.engine.attributes(of: fixture.node("empty"))?.attributes.blocks == 0)
    fixture.trigger(node)
    fixture.lane.runAll()
    #expect(fixture.engine.attributes(of: node)?.attributes.blocks == source)
    // dataless ls counts what is local, whatever is shown.
    fixture.engine.evict(node, by: "command") { _ in }
    fixture.lane.runAll()
    #expect(fixture.engine.describe(node)?.localBytes == 0)
  }

  @Test func theChangeTimeMovesWhenContentComesAndAtNoOtherTime() throws {
    let fixture = fixture { $0.changeTime = .bump }
    let node = fixture.node("a")
    func changeTime() -> Timestamp? { fixture.engine.attributes(of: node)?.attributes.changeTime }
    let source = try #require(changeTime())
    #expect(source == fixture.store.items.withLock { $0["a"]?.attributes.changeTime })
    fixture.trigger(node)
    fixture.lane.runAll()
    let moved = try #require(changeTime())
    #expect(moved.seconds == 1001 && moved.nanoseconds == 5)
    fixture.engine.evict(node, by: "command") { _ in }
    fixture.lane.runAll()
    #expect(changeTime() == moved, "it stays at eviction")
    // SOURCE's own time still decides whether it is the listed version.
    let again = fixture.trigger(node)
    fixture.lane.runAll()
    #expect(again.isReady && changeTime()?.seconds == 1002)
    change(fixture) { $0.changeTime = .stable }
    #expect(changeTime() == source)
    change(fixture) { $0.changeTime = .bump }
    #expect(changeTime() == source, "what was forgotten does not come back")
  }

  @Test func aFileThatNeverHadContentToComeKeepsItsTime() {
    let fixture = fixture(["empty": 0]) { $0.changeTime = .bump }
    let node = fixture.node("empty")
    fixture.trigger(node)
    fixture.lane.runAll()
    #expect(
      fixture.engine.attributes(of: node)?.attributes.changeTime
        == fixture.store.items.withLock { $0["empty"]?.attributes.changeTime })
  }

  @Test func aDatalessFileCanLookLikeAHole() {
    let fixture = fixture { $0.seek = .hole }
    let node = fixture.node("a")
    #expect(fixture.engine.seek(node, from: 17, hole: true) == .offset(17))
    guard case .failed(let error) = fixture.engine.seek(node, from: 17, hole: false) else {
      Issue.record("a hole has no data")
      return
    }
    #expect(error.errno.name == "ENXIO")
    fixture.trigger(node)
    fixture.lane.runAll()
    #expect(fixture.engine.seek(node, from: 17, hole: false) == .offset(17))
  }

  @Test func theStateHasTheNameAndTheWordsItIsGiven() {
    let state = StateAttribute(
      name: Array("user.here".utf8), values: .words(dataless: "no", resident: "yes", partial: "some"), isListed: true)
    let fixture = fixture { $0.state = state }
    let node = fixture.node("a")
    #expect(fixture.attribute("user.here", of: node) == "no")
    #expect(fixture.attribute(nil, of: node) == "ask user.here")
    // The library asks for this one, whatever is presented.
    #expect(fixture.attribute("user.dataless.state", of: node) == "dataless")
    fixture.trigger(node)
    #expect(fixture.attribute("user.here", of: node) == "no")
    fixture.lane.runAll()
    #expect(fixture.attribute("user.here", of: node) == "yes")
    #expect(fixture.attribute("user.other", of: node) == "ask")
    change(fixture) { $0.state = nil }
    for name in ["user.here", "user.dataless.state"] { #expect(fixture.attribute(name, of: node) == "ask") }
    #expect(fixture.attribute(nil, of: node) == "ask")
  }

  @Test(arguments: [(5, [0x05]), (200, [0xcc, 200]), (70_000, [0xce, 0, 1, 0x11, 0x70])] as [(Int64, [UInt8])])
  func openVFSsAttributeIsAMapOfMessagePack(size: Int64, encoded: [UInt8]) {
    func map(_ size: [UInt8], _ state: UInt8) -> [UInt8] {
      [0x85, 0xa4] + Array("etag".utf8) + [0xa0, 0xa6] + Array("fileid".utf8) + [0xa2] + Array("42".utf8) + [0xa8]
        + Array("pinstate".utf8) + [3, 0xa4] + Array("size".utf8) + size + [0xa5] + Array("state".utf8) + [state]
    }
    let attribute = StateAttribute.openVFS
    #expect(attribute.value(.dataless, size: size, inode: 42) == map(encoded, 1))
    #expect(attribute.value(.materializing, size: size, inode: 42) == map(encoded, 2))
    #expect(attribute.value(.resident, size: size, inode: 42) == map([0], 0))
    #expect(String(decoding: attribute.name, as: UTF8.self) == "user.openvfs.data")
  }

  @Test func aLiveChangeIsToldToTheKernelInBoundedSteps() {
    let files = Dictionary(uniqueKeysWithValues: (0..<5000).map { ("f\($0)", 10) })
    let fixture = fixture(files) { _ in }
    fixture.list("")
    fixture.kernel.calls.withLock { $0 = [] }
    change(fixture) { $0.blocks = .one }
    #expect(fixture.kernel.calls.withLock { $0.isEmpty }, "whoever changes it tells the kernel, step by step")
    var cursor: NodeCursor?
    var steps = 0
    repeat {
      cursor = fixture.engine.refreshAttributes(from: cursor)
      steps += 1
    } while cursor != nil
    #expect(steps == 2)
    let calls = fixture.kernel.calls.withLock { $0 }
    #expect(calls.count { $0.hasPrefix("attributes ") } == 5000)
    #expect(calls.last == "names" && calls.count { $0 == "names" } == 1)
  }
}
