@testable import DatalessCore
import Synchronization
import SystemPackage
import TestSupport
import Testing

/// Random changes of the content of files beside arrays of bytes: written to, cut off, with holes, evicted and
/// materialized in between.
@Suite struct FileWritingTests {
  private struct Model {
    var bytes: [UInt8]
    var isDirty = false

    mutating func write(_ new: [UInt8], at offset: Int) {
      guard !new.isEmpty else { return }
      if bytes.count < offset + new.count {
        bytes += [UInt8](repeating: 0, count: offset + new.count - bytes.count)
      }
      bytes.replaceSubrange(offset..<offset + new.count, with: new)
      isDirty = true
    }

    mutating func truncate(to size: Int) {
      isDirty = isDirty || !bytes.isEmpty || size > 0
      bytes = Array(bytes.prefix(size)) + [UInt8](repeating: 0, count: max(0, size - bytes.count))
    }

    mutating func allocate(_ kind: AllocationKind, _ range: Range<Int>) {
      isDirty = true
      switch kind {
      case .allocate(keepsSize: false), .zero(keepsSize: false):
        if bytes.count < range.upperBound { truncate(to: range.upperBound) }
      default: break
      }
      if case .allocate = kind { return }
      for place in range.clamped(to: 0..<bytes.count) { bytes[place] = 0 }
    }
  }

  private struct File {
    var model: Model
    let node: NodeID
    var handles: [UInt64] = []
  }

  private static func check(_ file: File, _ fixture: EngineFixture, _ context: String) {
    #expect(fixture.attributes(file.node)?.size == Int64(file.model.bytes.count), "\(context)")
    let handle = fixture.open(file.node)
    #expect(handle != 0, "\(context)")
    let read = fixture.read(file.node, handle)
    #expect(read == .bytes(file.model.bytes), "\(context)")
    fixture.close(file.node, handle)
    let state = fixture.engine.state.withLock { state in
      state.namespace.index(of: file.node).map { state.namespace[$0].isDirty }
    }
    #expect(state == file.model.isDirty, "\(context)")
  }

  private static func step(
    _ file: inout File, _ fixture: EngineFixture, _ random: inout TestRandom, emptiesUnread: Bool
  ) -> String {
    let node = file.node
    let size = file.model.bytes.count
    let offset = random.below(size + 300)
    switch random.below(10) {
    case 0:
      let (handle, errno) = fixture.openForWriting(node)
      #expect(errno == nil)
      file.handles.append(handle)
      return "open"
    case 1:
      guard let handle = file.handles.popLast() else { return "" }
      fixture.close(node, handle)
      return "close"
    case 2, 3, 4:
      guard let handle = file.handles.last else { return "" }
      let bytes = (0..<1 + random.below(400)).map { _ in random.byte() }
      let (count, errno) = fixture.write(bytes, to: node, handle, at: offset)
      #expect(count == bytes.count && errno == nil)
      file.model.write(bytes, at: offset)
      return "write \(bytes.count) at \(offset)"
    case 5:
      let size = random.oneIn(3) ? 0 : offset
      #expect(fixture.truncate(node, to: Int64(size)) == nil)
      file.model.truncate(to: size)
      return "truncate to \(size)"
    case 6:
      guard let handle = file.handles.last else { return "" }
      let kind = random.element(
        of: [
          AllocationKind.allocate(keepsSize: false), .allocate(keepsSize: true), .punchHole, .zero(keepsSize: false),
        ]
      )
      let range = offset..<offset + 1 + random.below(200)
      #expect(fixture.allocate(kind, Int64(range.lowerBound)..<Int64(range.upperBound), of: node, handle).errno == nil)
      file.model.allocate(kind, range)
      return "\(kind) \(range)"
    case 7:
      guard file.handles.isEmpty else { return "" }
      let (handle, errno) = fixture.openForWriting(node, flags: 0o1002)
      #expect(errno == nil)
      file.handles.append(handle)
      file.model.truncate(to: 0)
      return "open, cut off"
    case 8:
      // Of what is dataless already there is nothing to refuse.
      let hasContent = (size > 0 && !fixture.engine.isDataless(node)) || file.model.isDirty
      let errno = fixture.evict(node)
      if hasContent, file.model.isDirty || !file.handles.isEmpty {
        // What holds nothing has nothing to lose.
        #expect(errno == "EBUSY" || !fixture.holdsContent(node), "evict: \(errno ?? "ok")")
      }
      return "evict"
    default:
      fixture.bring(node, .read)
      return "read"
    }
  }

  private static func run(seed: UInt64, hasOwnFiles: Bool, profile: Profile) {
    var random = TestRandom(seed: seed)
    let fixture = EngineFixture.writable(["a": 1_000, "b": 5, "empty": 0], profile: profile)
    fixture.content.ownFiles.store(hasOwnFiles, ordering: .relaxed)
    var files = ["a", "b", "empty"].map { name in
      File(model: Model(bytes: fixture.store.bytes(name)), node: fixture.lookUp(name))
    }
    let (made, handle) = fixture.create("made")
    guard let node = made.node else {
      Issue.record("\(made)")
      return
    }
    files.append(File(model: Model(bytes: []), node: node, handles: [handle]))
    let context = "seed \(seed), own files \(hasOwnFiles), \(profile.name)"
    for step in 0..<1_500 {
      let index = random.below(files.count)
      let what = Self.step(&files[index], fixture, &random, emptiesUnread: profile.emptiesUnread)
      if random.oneIn(3) { check(files[index], fixture, "\(what), file \(index), step \(step), \(context)") }
      if random.oneIn(50) { _ = fixture.refresh("") }
    }
    for file in files {
      check(file, fixture, context)
      for handle in file.handles { fixture.close(file.node, handle) }
    }
    // The store has what it had.
    #expect(fixture.store.bytes("a") == PatternBytes.bytes(0, 1_000) && fixture.store.bytes("b").count == 5)
    for (file, name) in zip(files, ["a", "b", "empty", "made"]) {
      #expect(fixture.unlink(name) == .ok)
      fixture.forget(file.node)
    }
    fixture.lane.runAll()
    #expect(fixture.content.items == 0, "content is left, \(context)")
    #expect(fixture.engine.changes.dirtyFiles == 0)
  }

  @Test(arguments: TestSeed.seeds) func contentIsWhatWasWritten(seed: UInt64) {
    for profile in [Profile.macos, .windows] {
      for hasOwnFiles in [false, true] { Self.run(seed: seed, hasOwnFiles: hasOwnFiles, profile: profile) }
    }
  }

  @Test func aFetchThatFailsFailsTheWriteAndNothingElse() {
    let fixture = EngineFixture.writable(["a": 1_000])
    let node = fixture.lookUp("a")
    let before = fixture.attributes(node)
    fixture.store.edit("a") { $0.failure = FSError(.ioError, "no network") }
    let (handle, _) = fixture.openForWriting(node)
    #expect(fixture.write([1, 2, 3], to: node, handle, at: 0).errno == "EIO")
    #expect(fixture.truncate(node, to: 5) == "EIO")
    #expect(fixture.truncate(node, to: 0) == "EIO")
    #expect(fixture.openForWriting(node, flags: 0o1001).errno == "EIO")
    #expect(fixture.attributes(node) == before)
    #expect(fixture.engine.changes == VolumeChanges())
    fixture.store.edit("a") { $0.failure = nil }
    #expect(fixture.read(node, handle) == .bytes(PatternBytes.bytes(0, 1_000)))
    #expect(fixture.write([1, 2, 3], to: node, handle, at: 0).count == 3)
    #expect(fixture.engine.changes.dirtyFiles == 1)
  }

  @Test func whatIsCutOffIsFetchedFirstUnlessTheProfileThrowsItAway() {
    for (profile, opens) in [(Profile.macos, 1), (.windows, 0)] {
      let fixture = EngineFixture.writable(["a": 1_000], profile: profile)
      let node = fixture.lookUp("a")
      #expect(fixture.truncate(node, to: 0) == nil)
      #expect(fixture.store.opens.load(ordering: .relaxed) == opens, "\(profile.name)")
      #expect(fixture.attributes(node)?.size == 0)
      #expect(fixture.evict(node) == "EBUSY" || !fixture.holdsContent(node))
      #expect(fixture.refresh("").error == nil)
      #expect(fixture.attributes(node)?.size == 0)
    }
  }

  /// Of two that copy content into a file of its own at the same time, the second finds what the first has written.
  @Test func whoCopiesMoreSlowlyDropsHisCopy() {
    for size in [0, 10] {
      let fixture = EngineFixture.writable(["a": size])
      let node = fixture.lookUp("a")
      fixture.bring(node, .read)
      let (handle, _) = fixture.openForWriting(node)
      fixture.content.making.withLock { hook in
        hook = { fixture.write([5], to: node, handle, at: 0) }
      }
      #expect(fixture.write([6], to: node, handle, at: 1).count == 1)
      #expect(fixture.read(node, handle) == .bytes([5, 6] + PatternBytes.bytes(0, size).dropFirst(2)))
      #expect(fixture.content.items == 1, "the copy is left")
    }
  }

  /// What was to be copied is evicted while it is copied: truncation by path has no handle that would forbid it.
  @Test func contentThatGoesWhileItIsCopiedIsFetchedAgain() {
    let fixture = EngineFixture.writable(["a": 10])
    let node = fixture.lookUp("a")
    fixture.bring(node, .read)
    fixture.content.making.withLock { hook in hook = { _ = fixture.evict(node) } }
    #expect(fixture.truncate(node, to: 3) == nil)
    #expect(fixture.content("a") == PatternBytes.bytes(0, 3))
    #expect(fixture.store.opens.load(ordering: .relaxed) == 2 && fixture.content.items == 1)
  }

  @Test func aFullDiskCutsAWriteShortAndThenRefusesIt() {
    let fixture = EngineFixture.writable([:])
    let (made, handle) = fixture.create("a")
    let node = made.node!
    fixture.content.limit.store(100, ordering: .relaxed)
    let bytes = [UInt8](repeating: 7, count: 150)
    #expect(fixture.write(bytes, to: node, handle, at: 0).count == 100)
    #expect(fixture.write(bytes, to: node, handle, at: 100).errno == "ENOSPC")
    #expect(fixture.attributes(node)?.size == 100)
    #expect(fixture.read(node, handle) == .bytes([UInt8](repeating: 7, count: 100)))
  }

  @Test func offsetsAtTheEndOfTimeAreRefused() {
    let fixture = EngineFixture.writable([:])
    let (made, handle) = fixture.create("a")
    let node = made.node!
    #expect(fixture.write([1], to: node, handle, at: .max).errno == "EFBIG")
    #expect(fixture.write([1], to: node, handle, at: -1).errno == "EFBIG")
    #expect(fixture.write([1], to: node, handle &+ 1, at: 0).errno == "EBADF")
    #expect(fixture.truncate(node, to: -1) == "EINVAL")
    #expect(fixture.allocate(.punchHole, 5..<5, of: node, handle).errno == "EINVAL")
    let (reader, _) = fixture.openForWriting(node, flags: 0)
    #expect(fixture.write([1], to: node, reader, at: 0).errno == "EBADF")
  }

  @Test func whatIsUnlinkedLivesOnForWhoeverHasIt() {
    let fixture = EngineFixture.writable(["a": 1_000])
    let node = fixture.lookUp("a")
    let (handle, _) = fixture.openForWriting(node)
    fixture.write([9], to: node, handle, at: 0)
    #expect(fixture.unlink("a") == .ok)
    #expect(fixture.attributes(node)?.linkCount == 0)
    fixture.write([8], to: node, handle, at: 1)
    #expect(fixture.read(node, handle) == .bytes([9, 8] + PatternBytes.bytes(2, 998)))
    // Through /proc/self/fd.
    let (again, errno) = fixture.openForWriting(node)
    #expect(errno == nil)
    fixture.close(node, again)
    fixture.close(node, handle)
    #expect(fixture.content.items == 1, "the kernel knows it still")
    #expect(fixture.open(node) != 0)
  }

  @Test func whatIsUnlinkedGoesWithTheLastLookup() {
    let fixture = EngineFixture.writable([:])
    let (made, handle) = fixture.create("a")
    let node = made.node!
    fixture.write([9], to: node, handle, at: 0)
    #expect(fixture.unlink("a") == .ok)
    fixture.close(node, handle)
    #expect(fixture.content.items == 1)
    fixture.forget(node)
    #expect(fixture.content.items == 0)
    #expect(fixture.attributes(node) == nil, "its record is given back")
  }

  @Test func aFileWithoutANameGetsOne() {
    let fixture = EngineFixture.writable([:])
    guard
      case .made(let item, let handle) = fixture.engine.makeTemporaryFile(
        in: .root, mode: 0o600, umask: 0, openFlags: 2, by: EngineFixture.maker)
    else {
      // The root is dataless.
      fixture.list("")
      return aFileWithoutANameGetsOne(in: fixture)
    }
    fixture.close(item.node, handle)
    Issue.record("the root was not listed first")
  }

  private func aFileWithoutANameGetsOne(in fixture: EngineFixture) {
    guard
      case .made(let item, let handle) = fixture.engine.makeTemporaryFile(
        in: .root, mode: 0o600, umask: 0, openFlags: 2, by: EngineFixture.maker)
    else {
      Issue.record("not made")
      return
    }
    #expect(item.attributes.linkCount == 0 && fixture.entries(of: .root).isEmpty)
    fixture.write([1, 2], to: item.node, handle, at: 0)
    #expect(fixture.link(item.node, as: "a") == .made(item.node))
    fixture.close(item.node, handle)
    fixture.forget(item.node)
    #expect(fixture.content("a") == [1, 2])
    #expect(fixture.engine.attributes(of: fixture.node("a"))?.attributes.linkCount == 1)
    // Another one that gets none.
    guard
      case .made(let other, let otherHandle) = fixture.engine.makeTemporaryFile(
        in: .root, mode: 0o600, umask: 0, openFlags: 2, by: EngineFixture.maker)
    else { return }
    fixture.write([1, 2], to: other.node, otherHandle, at: 0)
    fixture.close(other.node, otherHandle)
    fixture.forget(other.node)
    #expect(fixture.content.items == 1)
  }

  /// While it is read for a copy, the source is written to, so that its content goes into another file.
  @Test func whatIsCopiedStaysUntilItIs() {
    let fixture = EngineFixture.writable(["a": 1_000, "b": 10])
    let (source, target) = (fixture.lookUp("a"), fixture.lookUp("b"))
    let reader = fixture.open(source)
    let (writer, _) = fixture.openForWriting(source)
    let (handle, _) = fixture.openForWriting(target)
    for node in [source, target] { fixture.bring(node, .copy) }
    fixture.content.reading.withLock { $0 = { fixture.write([7], to: source, writer, at: 0) } }
    let answer = fixture.engine.copyRange(
      from: source, at: 0, to: target, at: 0, length: 50, sourceHandle: reader, targetHandle: handle,
      by: EngineFixture.maker)
    guard case .done(50) = answer else {
      Issue.record("\(answer)")
      return
    }
    #expect(fixture.read(target, handle) == .bytes(PatternBytes.bytes(0, 50)))
    for handle in [reader, writer] { fixture.close(source, handle) }
    fixture.close(target, handle)
    #expect(fixture.content.items == 2)
  }

  /// Emptied by giving it other content, a file is empty from that moment on: nothing comes after it that may fail.
  @Test func whatCannotBeCutOffIsAsItWas() {
    let fixture = EngineFixture.writable(["a": 1_000])
    let node = fixture.lookUp("a")
    fixture.bring(node, .read)
    fixture.content.failsResize.store(true, ordering: .relaxed)
    #expect(fixture.truncate(node, to: 5) == "EIO")
    #expect(fixture.content("a") == PatternBytes.bytes(0, 1_000))
    #expect(fixture.truncate(node, to: 0) == "EIO", "it is dirty: its own content is cut off")
    #expect(fixture.content("a") == PatternBytes.bytes(0, 1_000))
    let other = EngineFixture.writable(["a": 1_000])
    other.content.failsResize.store(true, ordering: .relaxed)
    let file = other.lookUp("a")
    other.bring(file, .read)
    #expect(other.truncate(file, to: 0) == nil)
    #expect(other.attributes(file)?.size == 0 && other.content("a") == [])
  }

  /// Whatever the disk says of it afterwards: it may have no descriptor to look with.
  /// A disk that gets full on the way leaves what was made, which is seen, as on others.
  @Test func whatWasMadeOfAnAllocationIsSaidToBe() {
    let fixture = EngineFixture.writable(["a": 10])
    let node = fixture.lookUp("a")
    let (handle, _) = fixture.openForWriting(node)
    fixture.content.limit.store(60, ordering: .relaxed)
    #expect(fixture.allocate(.allocate(keepsSize: false), 20..<200, of: node, handle).errno == "ENOSPC")
    let grown = fixture.attributes(node)
    #expect(grown?.size == 60)
    // Of what fails as a whole nothing is seen, its time neither.
    #expect(fixture.allocate(.allocate(keepsSize: false), 40..<200, of: node, handle).errno == "ENOSPC")
    #expect(fixture.attributes(node) == grown)
    #expect(fixture.read(node, handle) == .bytes(PatternBytes.bytes(0, 10) + [UInt8](repeating: 0, count: 50)))
  }

  @Test func whatIsCutOffIsSaidToBe() {
    let fixture = EngineFixture.writable(["a": 1_000])
    let node = fixture.lookUp("a")
    fixture.bring(node, .read)
    fixture.content.failsExtent.store(true, ordering: .relaxed)
    for size in [Int64(5), 0] {
      #expect(fixture.truncate(node, to: size) == nil && fixture.attributes(node)?.size == size)
      #expect(fixture.attributes(node)?.blocks == (size + 511) / 512, "what the change of the size itself has seen")
    }
  }

  @Test func aCopyBringsBothFilesIn() {
    let fixture = EngineFixture.writable(["a": 1_000, "b": 10])
    let (source, target) = (fixture.lookUp("a"), fixture.lookUp("b"))
    let (handle, _) = fixture.openForWriting(target)
    var asked: [NodeID] = []
    while true {
      let answer = fixture.engine.copyRange(
        from: source, at: 100, to: target, at: 4, length: 50, sourceHandle: 0, targetHandle: handle,
        by: EngineFixture.maker)
      if case .needsMaterialization(let node) = answer {
        asked.append(node)
        fixture.bring(node, .copy)
        continue
      }
      guard case .done(50) = answer else {
        Issue.record("\(answer)")
        return
      }
      break
    }
    #expect(asked == [source, target])
    let expected = PatternBytes.bytes(0, 4) + PatternBytes.bytes(100, 50)
    #expect(fixture.read(target, handle) == .bytes(expected))
  }
}

extension EngineFixture {
  /// Whether a file has content, and is not empty.
  func holdsContent(_ node: NodeID) -> Bool { (attributes(node)?.size ?? 0) > 0 }
}
