@testable import DatalessCore
import Synchronization
import SystemPackage
import TestSupport
import Testing

/// Opens, writes past the volume and through it, cuts, evictions and mappings in any order, beside a kernel that keeps
/// its rules and its own pages, and a model of what each file holds.
@Suite struct PassthroughRandomTests {
  private final class Model {
    let volume = PassthroughFixture(["a": 200, "b": 60, "c": 300])
    let nodes: [NodeID]
    var bytes: [NodeID: [UInt8]] = [:]
    /// What the kernel has of a file in pages of its own.
    var pages: [NodeID: [UInt8]] = [:]
    /// Content that is mapped without an open.
    var mapped: [NodeID: ContentID] = [:]
    var random: TestRandom
    private var callsSeen = 0

    init(_ seed: UInt64) {
      random = TestRandom(seed: seed)
      let volume = volume
      nodes = ["a", "b", "c"].map { volume.resident($0) }
      for node in nodes { bytes[node] = volume.bytes(node) }
    }

    /// Pages that the kernel was told to drop.
    func dropPages() {
      let calls = volume.fixture.kernel.calls.withLock { $0 }
      for call in calls[callsSeen...] {
        for node in nodes where call == "content \(node.rawValue)" { pages[node] = nil }
      }
      callsSeen = calls.count
    }

    func some() -> [UInt8] { (0...random.below(40)).map { _ in random.byte() } }

    func put(_ part: [UInt8], at offset: Int, in node: NodeID) {
      var all = bytes[node] ?? []
      if all.count < offset + part.count { all += [UInt8](repeating: 0, count: offset + part.count - all.count) }
      all.replaceSubrange(offset..<offset + part.count, with: part)
      bytes[node] = all
    }

    func step() -> String {
      let node = random.element(of: nodes)
      let opens = volume.opens[node] ?? []
      switch random.below(12) {
      case 0, 1:
        let flags: Int32 = random.element(of: [0, 1, 2, 2, 0o1001])
        let hasBacking = !random.oneIn(6)
        let (open, errno) = volume.open(node, flags: flags, hasBacking: hasBacking)
        if flags & 0o1000 != 0, open != nil {
          bytes[node] = []
          pages[node] = nil
        }
        return "open \(flags) \(hasBacking): \(open.map { "\($0.kind)" } ?? errno ?? "")"
      case 2, 3:
        guard let open = opens.isEmpty ? nil : random.element(of: opens) else { return "" }
        // A mapping may outlive it.
        if open.kind == .passing, open.writes, random.oneIn(4) {
          mapped[node] = open.content
          volume.fixture.content.mapped.store(true, ordering: .relaxed)
        }
        volume.close(node, open)
        return "close \(open.kind), mapped \(mapped[node] != nil)"
      case 4, 5:
        let writers = opens.filter { $0.kind == .passing && $0.writes }
        guard let content = writers.first?.content ?? mapped[node] else { return "" }
        let part = some()
        // A mapping does not make it larger.
        let size = bytes[node]?.count ?? 0
        guard !writers.isEmpty || size > part.count else { return "" }
        let offset = random.below(writers.isEmpty ? size - part.count : 400)
        #expect(volume.isDirty(node), "it could be evicted")
        #expect(volume.content(node) == content, "it is written to what is not the file's")
        #expect(volume.fixture.content.writePast(content, part, at: offset))
        put(part, at: offset, in: node)
        return "write past at \(offset)"
      case 6: return writeThrough(node, opens)
      case 7: return read(node, opens)
      case 8:
        let size = random.below(400)
        guard volume.fixture.truncate(node, to: Int64(size)) == nil else { return "not cut" }
        let all = bytes[node] ?? []
        bytes[node] = Array(all.prefix(size)) + [UInt8](repeating: 0, count: max(0, size - all.count))
        pages[node] = nil
        return "cut to \(size)"
      case 9:
        let answer = volume.fixture.evict(node)
        #expect(answer != nil || bytes[node] == [] || !volume.isDirty(node), "what was written is lost")
        return "evict \(answer ?? "ok")"
      case 10:
        if random.oneIn(3) {
          mapped = [:]
          volume.fixture.content.mapped.store(false, ordering: .relaxed)
        }
        volume.advance(milliseconds: Int64(random.below(4_000)))
        return "advance"
      default:
        if random.oneIn(2) { volume.fixture.bring(node, .read) }
        return "bring"
      }
    }

    private func writeThrough(_ node: NodeID, _ opens: [PassthroughFixture.Open]) -> String {
      guard let writer = opens.first(where: { $0.kind != .passing && $0.writes }) else { return "" }
      let (part, offset) = (some(), random.below(400))
      let answer = volume.fixture.write(part, to: node, writer.handle, at: offset)
      #expect(answer.count == part.count, "\(answer)")
      put(part, at: offset, in: node)
      pages[node] = writer.kind == .cached && pages[node] != nil ? bytes[node] : nil
      return "write at \(offset)"
    }

    private func read(_ node: NodeID, _ opens: [PassthroughFixture.Open]) -> String {
      guard let reader = opens.first else { return "" }
      let fixture = volume.fixture
      var found: [UInt8]
      switch reader.kind {
      case .passing: found = fixture.content.state.withLock { $0.content[reader.content.rawValue] } ?? []
      case .cached where pages[node] != nil: found = pages[node] ?? []
      case .cached, .direct:
        if fixture.engine.isDataless(node) { fixture.bring(node, .read) }
        guard case .bytes(let read) = fixture.read(node, reader.handle) else {
          Issue.record("it cannot be read")
          return "read"
        }
        found = read
        if reader.kind == .cached { pages[node] = read }
      }
      #expect(found == bytes[node], "read \(reader.kind)")
      return "read \(reader.kind)"
    }
  }

  @Test(arguments: TestSeed.seeds) func filesAreWhatWasWrittenWhoeverWroteIt(seed: UInt64) {
    let model = Model(seed)
    var steps: [String] = []
    for _ in 0..<4_000 {
      steps.append(model.step())
      model.dropPages()
      for node in model.nodes {
        let size = model.volume.fixture.attributes(node)?.size
        guard size == Int64(model.bytes[node]?.count ?? 0), model.volume.refused.isEmpty else {
          Issue.record("seed \(seed): \(size ?? -1), \(model.volume.refused): \(steps.suffix(25))")
          return
        }
      }
    }
    model.volume.closeAll()
    model.volume.fixture.content.mapped.store(false, ordering: .relaxed)
    model.volume.advance(milliseconds: 200_000)
    #expect(model.volume.unsettled == 0 && model.volume.fixture.engine.opens.now == OpenModes())
    #expect(model.volume.fixture.engine.state.withLock { $0.pageDrops.isEmpty })
    for node in model.nodes where model.volume.isDirty(node) {
      #expect(model.volume.bytes(node) == model.bytes[node], "seed \(seed)")
    }
  }
}
