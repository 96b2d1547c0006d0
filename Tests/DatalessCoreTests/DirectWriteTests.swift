@testable import DatalessCore
import Synchronization
import SystemPackage
import Testing

/// Direct writes of asynchronous I/O, and what is written back of mappings, which the kernel lets run beside a change
/// of the file's size. Whatever the order, a file is as large as its content, and nothing of it is unreadable.
@Suite struct DirectWriteTests {
  private struct File {
    let fixture: EngineFixture
    let node: NodeID
    let handle: UInt64

    init() {
      fixture = .writable([:])
      let (made, handle) = fixture.create("a")
      node = made.node!
      self.handle = handle
      fixture.write([UInt8](repeating: 7, count: 100), to: node, handle, at: 0)
    }

    @Sendable func writeDirectly(at offset: Int64) {
      let answer = [UInt8](repeating: 8, count: 10).withUnsafeBytes {
        fixture.engine.write($0, to: node, WriteAccess(handle: handle, offset: offset, isDirect: true))
      }
      guard case .done(10) = answer else {
        Issue.record("\(answer)")
        return
      }
    }

    /// Ten bytes of a mapping, as the page cache writes them back.
    @Sendable func writeBack(at offset: Int64) {
      let answer = [UInt8](repeating: 9, count: 10).withUnsafeBytes {
        fixture.engine.write($0, to: node, WriteAccess(handle: handle, offset: offset, isWriteback: true))
      }
      guard case .done(10) = answer else {
        Issue.record("\(answer)")
        return
      }
    }

    @Sendable func resize(to size: Int64) { #expect(fixture.truncate(node, to: size) == nil) }

    func meanwhile(_ body: @escaping @Sendable () -> Void) { fixture.content.changed.withLock { $0 = body } }

    func expect(size: Int, _ context: String) {
      let content = fixture.engine.state.withLock { state in
        state.namespace.index(of: node).map { state.namespace[$0].content }
      }
      let bytes = content.flatMap { content in fixture.content.state.withLock { $0.content[content.rawValue] } }
      #expect(fixture.attributes(node)?.size == Int64(size) && bytes?.count == size, "\(context)")
      let handle = fixture.open(node)
      #expect(fixture.read(node, handle) == .bytes(bytes ?? []), "\(context)")
      fixture.close(node, handle)
      #expect(!fixture.engine.state.withLock { $0.writers.hasChangesAtWork }, "\(context)")
    }
  }

  @Test func aFileThatIsCutOffUnderADirectWriteIsAsLargeAsItsContent() {
    for size in [Int64(0), 50, 95, 300] {
      let file = File()
      file.meanwhile { file.resize(to: size) }
      file.writeDirectly(at: 90)
      // The bytes had been written when it was cut off.
      file.expect(size: Int(size), "cut off to \(size)")
    }
  }

  @Test func aDirectWriteUnderACutMakesTheFileLargerAgain() {
    for size in [Int64(0), 50, 300] {
      let file = File()
      // Into a file of its own: what is emptied by other content has no moment for others to come between.
      file.fixture.write([7], to: file.node, file.handle, at: 0)
      file.meanwhile { file.writeDirectly(at: 90) }
      file.resize(to: size)
      file.expect(size: max(100, Int(size)), "cut off to \(size)")
    }
  }

  @Test func whoeverIsLastOfSeveralAsksTheContent() {
    let file = File()
    file.meanwhile {
      file.meanwhile {
        file.meanwhile { file.writeDirectly(at: 20) }
        file.resize(to: 10)
      }
      file.writeDirectly(at: 90)
    }
    file.resize(to: 5)
    file.expect(size: 30, "four at once")
  }

  /// An open that empties a file lets go on what is being written back of a mapping; the kernel drops the pages later.
  @Test func whatIsWrittenBackNeverMakesAFileLarger() {
    for size in [0, 50, 95, 100, 300] {
      let file = File()
      file.resize(to: Int64(size))
      file.writeBack(at: 90)
      file.expect(size: size, "cut off to \(size)")
      file.resize(to: 400)
      let written = [UInt8](repeating: 9, count: min(10, max(0, size - 90)))
      let kept = [UInt8](repeating: 7, count: min(size, 90)) + written
      let handle = file.fixture.open(file.node)
      #expect(file.fixture.read(file.node, handle) == .bytes(kept + [UInt8](repeating: 0, count: 400 - kept.count)))
      file.fixture.close(file.node, handle)
    }
  }

  @Test(arguments: [Int64(0), 50, 95, 300], [true, false])
  func whatIsWrittenBackBesideACutIsCutOff(size: Int64, isCutLast: Bool) {
    let file = File()
    // As above: a file of its own.
    file.fixture.write([7], to: file.node, file.handle, at: 0)
    if isCutLast {
      file.meanwhile { file.resize(to: size) }
      file.writeBack(at: 90)
    } else {
      file.meanwhile { file.writeBack(at: 90) }
      file.resize(to: size)
    }
    file.expect(size: Int(size), "cut off to \(size)")
  }

  @Test func whatFailsLeavesNothingAtWork() {
    let file = File()
    file.fixture.content.limit.store(0, ordering: .relaxed)
    let answer = [UInt8(1)].withUnsafeBytes {
      file.fixture.engine.write($0, to: file.node, WriteAccess(handle: file.handle, offset: 0, isDirect: true))
    }
    guard case .failed = answer else {
      Issue.record("\(answer)")
      return
    }
    file.expect(size: 100, "a full disk")
  }
}
