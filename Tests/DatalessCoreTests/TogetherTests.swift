import Synchronization
import Testing

@testable import DatalessCore

/// Answers as it is told, and remembers what it was asked.
private final class ScriptedHolders: HolderProbe {
  private let asked = Mutex<[SharedWrite]>([])
  private let answer: SharedWrite.Answer

  init(_ answer: SharedWrite.Answer) { self.answer = answer }

  var writes: [SharedWrite] { asked.withLock { $0 } }

  func look(at write: SharedWrite) -> SharedWrite.Answer {
    asked.withLock { $0.append(write) }
    return answer
  }
}

/// Who is asked about, and when, where a file is written to that others have open.
@Suite struct TogetherTests {
  private static let found = SharedWrite.Together(
    writer: EngineFixture.maker, other: ProcessID(rawValue: 2), otherWrites: false, lock: .free)

  /// A writable volume with a file that `EngineFixture.maker` has open for writing.
  private struct Volume {
    let holders: ScriptedHolders
    let fixture: EngineFixture
    let node: NodeID
    let handle: UInt64

    init(_ answer: SharedWrite.Answer = .together(TogetherTests.found)) throws {
      holders = ScriptedHolders(answer)
      fixture = EngineFixture.writable([:], holders: holders)
      let made = fixture.create("a")
      node = try #require(made.done.node)
      handle = made.handle
    }

    /// - Returns: The handle of another open, for reading.
    func open(process: UInt32, thread: Int32) throws -> UInt64 {
      let answer = fixture.engine.open(
        node, process: ProcessID(rawValue: process), threadID: thread, openFlags: 0)
      switch answer {
      case .dataless(let handle), .resident(let handle), .passthrough(_, let handle): return handle
      case .needsMaterialization, .isBeingEvicted, .failed: break
      }
      Issue.record("not opened")
      return 0
    }

    func write() { #expect(fixture.write([1, 2, 3], to: node, handle, at: 0).count == 3) }

    /// What a mapping has stored to what is there.
    func writeBack() {
      let bytes: [UInt8] = [4, 5, 6]
      let answer = bytes.withUnsafeBytes {
        fixture.engine.write($0, to: node, WriteAccess(handle: handle, offset: 0, isWriteback: true))
      }
      if case .done(3) = answer { return }
      Issue.record("\(answer)")
    }

    var told: [Event.HandleTogether] {
      fixture.events.all.compactMap { record -> Event.HandleTogether? in
        if case .handleTogether(let event) = record { event } else { nil }
      }
    }
  }

  @Test func whoHasAFileAloneIsNotAskedAbout() throws {
    let volume = try Volume()
    volume.write()
    // The maker's process again, and its thread.
    _ = try volume.open(process: 1, thread: 11)
    _ = try volume.open(process: 0, thread: 10)
    volume.write()
    #expect(volume.holders.writes.isEmpty && volume.told.isEmpty)
  }

  @Test func aWriteBesideAnotherProcessIsAskedAboutOnce() throws {
    let volume = try Volume()
    let other = try volume.open(process: 2, thread: 20)
    volume.write()
    volume.write()
    let asked = try #require(volume.holders.writes.first)
    #expect(volume.holders.writes.count == 1 && asked.names == [Array("a".utf8)])
    #expect(asked.others == [SharedWrite.Opener(process: ProcessID(rawValue: 2), threadID: 20, writes: false)])
    let told = try #require(volume.told.first)
    #expect(volume.told.count == 1 && told.path == Array("a".utf8) && told.found == Self.found)
    volume.fixture.close(volume.node, other)
    _ = try volume.open(process: 3, thread: 30)
    volume.write()
    #expect(volume.holders.writes.count == 1)
  }

  @Test func whoHasClosedTheFileIsNoOther() throws {
    let volume = try Volume()
    let other = try volume.open(process: 2, thread: 20)
    volume.fixture.close(volume.node, other)
    volume.write()
    #expect(volume.holders.writes.isEmpty)
  }

  @Test func whoWasFoundAloneIsLookedAtAgainWhenSomebodyOpensTheFile() throws {
    let volume = try Volume(.alone)
    _ = try volume.open(process: 0, thread: 20)
    volume.write()
    volume.write()
    #expect(volume.holders.writes.count == 1 && volume.told.isEmpty)
    _ = try volume.open(process: 0, thread: 30)
    volume.write()
    #expect(volume.holders.writes.count == 2 && volume.holders.writes.last?.others.count == 2)
  }

  @Test func aFileWithoutANameIsNotAskedAbout() throws {
    let volume = try Volume()
    _ = try volume.open(process: 2, thread: 20)
    #expect(volume.fixture.unlink("a") == .ok)
    volume.write()
    #expect(volume.holders.writes.isEmpty)
  }

  @Test func whatIsNotLookedAtIsUnknownAtTheClose() throws {
    let volume = try Volume()
    let extra = 100
    for index in 0..<extra {
      let made = volume.fixture.create("b\(index)")
      let node = try #require(made.done.node)
      _ = volume.fixture.engine.open(node, process: ProcessID(rawValue: 2), threadID: 20, openFlags: 0)
      volume.fixture.write([1], to: node, made.handle, at: 0)
    }
    #expect(volume.holders.writes.count == extra)
    _ = try volume.open(process: 2, thread: 20)
    volume.write()
    #expect(volume.holders.writes.count == extra && volume.told.count == extra)
    volume.fixture.close(volume.node, volume.handle)
    let last = try #require(volume.told.last)
    #expect(last.path == Array("a".utf8) && last.found.lock == .unknown(.tooMany) && last.found.other == .unknown)
  }

  /// The kernel writes back what a mapping has stored, long after: nobody knows who had which lock.
  @Test func whatMappingsStoreBesideOthersIsUnknown() throws {
    for isBeside in [true, false] {
      let volume = try Volume()
      volume.write()
      if isBeside { _ = try volume.open(process: 2, thread: 20) }
      volume.writeBack()
      #expect(volume.holders.writes.isEmpty && volume.told.isEmpty)
      volume.fixture.close(volume.node, volume.handle)
      #expect(volume.told.map(\.found.lock) == (isBeside ? [.unknown(.mapped)] : []))
    }
    // What a write has told is told once.
    let volume = try Volume()
    _ = try volume.open(process: 2, thread: 20)
    volume.write()
    volume.writeBack()
    volume.fixture.close(volume.node, volume.handle)
    #expect(volume.told.map(\.found.lock) == [.free])
  }

  @Test func whatTheKernelWritesItselfIsUnknown() throws {
    let holders = ScriptedHolders(.alone)
    let volume = PassthroughFixture(["a": 200, "b": 200], holders: holders)
    for name in ["a", "b"] {
      let node = volume.resident(name)
      let writer = try #require(volume.open(node).open)
      #expect(writer.kind == .passing)
      let isShared = name == "a"
      if isShared { _ = volume.fixture.engine.open(node, process: .unknown, threadID: 20, openFlags: 0) }
      #expect(volume.fixture.content.writePast(volume.content(node), [7], at: 0))
      volume.close(node, writer)
      let told = volume.fixture.events.all.compactMap { record -> LockSight? in
        if case .handleTogether(let event) = record { event.found.lock } else { nil }
      }
      #expect(told == [.unknown(.unseen)], "\(name)")
    }
    #expect(holders.writes.isEmpty)
  }
}

/// `Openers` alone: what begins and ends in whatever order.
@Suite struct OpenersTests {
  private static let node = NodeIndex(rawValue: 7)

  private static func opener(_ thread: Int32) -> SharedWrite.Opener {
    SharedWrite.Opener(process: .unknown, threadID: thread, writes: thread % 2 == 0)
  }

  @Test func beyondTheLimitOpensAreCountedOnly() {
    var openers = Openers(isKept: true)
    let handles = (1...200 as ClosedRange<UInt64>).map { $0 }
    for handle in handles { openers.begin(handle, Self.node, by: Self.opener(Int32(handle))) }
    #expect(openers.isMixed(Self.node) && openers.beside(1, Self.node)?.count == SharedWrite.othersMax)
    // Those that are not noted are others' as well.
    #expect(openers.beside(200, Self.node)?.count == SharedWrite.othersMax)
    for handle in handles.dropLast() { openers.end(handle, Self.node) }
    #expect(openers.isMixed(Self.node) && openers.beside(200, Self.node) == nil)
    openers.end(200, Self.node)
    #expect(!openers.isMixed(Self.node))
    openers.begin(1, Self.node, by: Self.opener(1))
    #expect(!openers.isMixed(Self.node) && openers.beside(1, Self.node) == nil)
  }

  @Test func aPassthroughOpenThatBecomesACachedOneIsTheSame() {
    var openers = Openers(isKept: true)
    let passing = OpenHandle.passthrough(1)
    openers.begin(passing, Self.node, by: Self.opener(1))
    openers.begin(OpenHandle.cached(2), Self.node, by: Self.opener(2))
    #expect(openers.beside(OpenHandle.asCached(passing), Self.node) == [Self.opener(2)])
    openers.end(OpenHandle.asCached(passing), Self.node)
    #expect(openers.beside(OpenHandle.cached(2), Self.node) == nil)
  }

  @Test func whatNobodyAsksForIsNotKept() {
    var openers = Openers()
    openers.begin(1, Self.node, by: Self.opener(1))
    openers.begin(2, Self.node, by: Self.opener(2))
    #expect(!openers.isMixed(Self.node))
  }
}
