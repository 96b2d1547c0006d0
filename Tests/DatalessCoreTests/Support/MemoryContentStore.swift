import DatalessCore
import Synchronization
import SystemPackage
import Testing

/// Committed content in memory, with a limit that acts like a full disk.
final class MemoryContentStore: ContentStore {
  struct State {
    var content: [UInt64: [UInt8]] = [:]
    var next: UInt64 = 1
    var writers = 0
    /// What `makeWritable` made.
    var writable: Set<UInt64> = []
    /// When content was changed, by a clock of the disk's own.
    var times: [UInt64: Timestamp] = [:]
    var now = Timestamp(seconds: 1_000, nanoseconds: 0)

    mutating func touch(_ id: ContentID) { times[id.rawValue] = now }
  }
  let isFastLocal = true
  let state = Mutex(State())
  let limit = Atomic<Int>(.max)
  /// Called by a commit, and by a write of a range, before it returns.
  let committing = Mutex<(@Sendable () -> Void)?>(nil)
  /// Called once, when writable or fixed content is to be made.
  let making = Mutex<(@Sendable () -> Void)?>(nil)

  /// Called once, when content is read.
  let reading = Mutex<(@Sendable () -> Void)?>(nil)
  let failsResize = Atomic<Bool>(false)
  /// Whether content cannot be looked at.
  let failsExtent = Atomic<Bool>(false)
  /// Called once, when bytes were written or the size was changed, before the call returns.
  let changed = Mutex<(@Sendable () -> Void)?>(nil)

  private func callMaking() {
    making.withLock { hook in
      defer { hook = nil }
      return hook
    }?()
  }

  private func callChanged() {
    changed.withLock { hook in
      defer { hook = nil }
      return hook
    }?()
  }

  func makeWriter(size: Int64) throws(FSError) -> any ContentWriter {
    state.withLock { $0.writers += 1 }
    return MemoryWriter(store: self, size: Int(size))
  }

  func read(
    _ reference: ContentID, into buffer: UnsafeMutableRawBufferPointer, at offset: Int64
  ) throws(FSError) -> Int {
    reading.withLock { hook in
      defer { hook = nil }
      return hook
    }?()
    let bytes = state.withLock { $0.content[reference.rawValue] } ?? []
    guard offset < bytes.count else { return 0 }
    let count = min(buffer.count, bytes.count - Int(offset))
    bytes.withUnsafeBytes { buffer.copyMemory(from: .init(rebasing: $0[Int(offset)..<Int(offset) + count])) }
    return count
  }

  let seeks = Atomic<Int>(0)
  func seek(_ reference: ContentID, from offset: Int64, hole: Bool) throws(FSError) -> Int64 {
    seeks.add(1, ordering: .relaxed)
    return hole ? try size(of: reference) : offset
  }

  /// Whether all content counts as lying in files of their own, and as mapped by somebody.
  let ownFiles = Atomic<Bool>(false)
  let mapped = Atomic<Bool>(false)
  func hasOwnFile(_ reference: ContentID) -> Bool {
    ownFiles.load(ordering: .relaxed) || state.withLock { $0.writable.contains(reference.rawValue) }
  }
  func isUsedElsewhere(_ reference: ContentID) -> Bool { mapped.load(ordering: .relaxed) }

  /// Whether the disk notes each store into a mapping.
  let seesStores = Atomic<Bool>(true)
  /// Whether content cannot be watched.
  let failsWatch = Atomic<Bool>(false)
  func watch(_ id: ContentID) throws(FSError) -> (any ContentWatch)? {
    if failsWatch.load(ordering: .relaxed) { throw FSError(.tooManyOpenFiles, "the test has no descriptors") }
    return MemoryWatch(self, id)
  }

  /// As a program does through a passthrough open, or a mapping of it. - Returns: False if the content is gone.
  func writePast(_ id: ContentID, _ bytes: [UInt8], at offset: Int) -> Bool {
    state.withLock { state in
      guard var content = state.content[id.rawValue] else { return false }
      let end = offset + bytes.count
      if content.count < end { content += [UInt8](repeating: 0, count: end - content.count) }
      content.replaceSubrange(offset..<end, with: bytes)
      state.content[id.rawValue] = content
      state.now.seconds += 1
      state.touch(id)
      return true
    }
  }

  func openDescriptor(_ reference: ContentID) throws(FSError) -> CInt? { nil }

  func remove(_ reference: ContentID) {
    state.withLock { _ = $0.content.removeValue(forKey: reference.rawValue) }
  }

  func makeRanged(size: Int64) throws(FSError) -> ContentID {
    state.withLock { state in
      // What nobody may see before it is written.
      state.content[state.next] = [UInt8](repeating: 0xee, count: Int(size))
      state.next += 1
      return ContentID(rawValue: state.next - 1)
    }
  }

  /// As a slab: of few bytes.
  func makeFixed(_ bytes: UnsafeRawBufferPointer) throws(FSError) -> ContentID? {
    guard bytes.count <= 200 else { return nil }
    guard bytes.count <= limit.load(ordering: .relaxed) else { throw FSError(.noSpace, "the test's disk is full") }
    callMaking()
    return state.withLock { state in
      state.content[state.next] = Array(bytes)
      state.next += 1
      return ContentID(rawValue: state.next - 1)
    }
  }

  func rangeWriter(_ reference: ContentID) throws(FSError) -> any RangeWriter {
    state.withLock { $0.writers += 1 }
    return MemoryRangeWriter(store: self, reference: reference)
  }

  func makeWritable(size: Int64, copying original: ContentID?) throws(FSError) -> ContentID {
    callMaking()
    return state.withLock { state in
      var bytes = original.flatMap { state.content[$0.rawValue] } ?? []
      bytes.removeLast(max(0, bytes.count - Int(size)))
      state.content[state.next] = bytes + [UInt8](repeating: 0, count: Int(size) - bytes.count)
      state.writable.insert(state.next)
      state.next += 1
      return ContentID(rawValue: state.next - 1)
    }
  }

  func size(of id: ContentID) throws(FSError) -> Int64 {
    guard let bytes = state.withLock({ $0.content[id.rawValue] }) else { throw FSError(.ioError, "no such content") }
    return Int64(bytes.count)
  }

  func resize(_ id: ContentID, to size: Int64) throws(FSError) -> ContentExtent {
    if failsResize.load(ordering: .relaxed) { throw FSError(.ioError, "the test's disk cannot") }
    state.withLock { state in
      let bytes = (state.content[id.rawValue] ?? []).prefix(Int(size))
      state.content[id.rawValue] = bytes + [UInt8](repeating: 0, count: Int(size) - bytes.count)
      state.touch(id)
    }
    callChanged()
    return ContentExtent(size: size, blocks: (size + 511) / 512)
  }

  func sync(_ id: ContentID) throws(FSError) {}

  /// What `makeWritable` made: only that has a file of its own.
  private func writable(_ id: ContentID) throws(FSError) -> [UInt8] {
    guard let bytes = state.withLock({ $0.content[id.rawValue] }) else { throw FSError(.ioError, "no such content") }
    guard hasOwnFile(id) else { throw FSError(.invalidArgument, "not writable") }
    return bytes
  }

  func write(
    _ id: ContentID, _ bytes: UnsafeRawBufferPointer, at offset: Int64
  ) throws(FSError) -> (count: Int, extent: ContentExtent) {
    _ = try writable(id)
    let room = limit.load(ordering: .relaxed) - Int(offset)
    guard room > 0 else { throw FSError(.noSpace, "the test's disk is full") }
    let part = Array(bytes.prefix(room))
    state.withLock { state in
      var content = state.content[id.rawValue] ?? []
      if content.count < Int(offset) + part.count {
        content += [UInt8](repeating: 0, count: Int(offset) + part.count - content.count)
      }
      content.replaceSubrange(Int(offset)..<Int(offset) + part.count, with: part)
      state.content[id.rawValue] = content
      state.touch(id)
    }
    let extent = try extent(of: id)
    callChanged()
    return (part.count, extent)
  }

  func allocate(_ id: ContentID, _ kind: AllocationKind, range: Range<Int64>) throws(FSError) {
    var bytes = try writable(id)
    let range = Int(range.lowerBound)..<Int(range.upperBound)
    let end =
      switch kind {
      case .allocate(keepsSize: false), .zero(keepsSize: false): max(bytes.count, range.upperBound)
      default: bytes.count
      }
    // As a disk that gets full on the way.
    let isFull = end > limit.load(ordering: .relaxed)
    let made = isFull ? max(bytes.count, limit.load(ordering: .relaxed)) : end
    bytes += [UInt8](repeating: 0, count: made - bytes.count)
    if case .allocate = kind {} else { for place in range.clamped(to: 0..<bytes.count) { bytes[place] = 0 } }
    state.withLock { [bytes] state in
      state.content[id.rawValue] = bytes
      state.touch(id)
    }
    if isFull { throw FSError(.noSpace, "the test's disk is full") }
  }

  func extent(of id: ContentID) throws(FSError) -> ContentExtent {
    if failsExtent.load(ordering: .relaxed) { throw FSError(.tooManyOpenFiles, "the test has no descriptors") }
    let size = try size(of: id)
    return ContentExtent(size: size, blocks: (size + 511) / 512)
  }

  var allocatedBytes: Int64 { state.withLock { $0.content.values.reduce(0) { $0 + Int64($1.count) } } }
  var items: Int { state.withLock { $0.content.count } }
  /// Writers neither committed nor discarded.
  var openWriters: Int { state.withLock { $0.writers } }
}

final class MemoryWatch: ContentWatch {
  private let store: MemoryContentStore
  private let id: ContentID

  init(_ store: MemoryContentStore, _ id: ContentID) {
    self.store = store
    self.id = id
  }

  var seesStores: Bool { store.seesStores.load(ordering: .relaxed) }

  func look() -> ContentStatus? {
    store.state.withLock { state in
      guard let bytes = state.content[id.rawValue] else { return nil }
      let extent = ContentExtent(size: Int64(bytes.count), blocks: Int64(bytes.count + 511) / 512)
      let time = state.times[id.rawValue] ?? Timestamp(seconds: 1, nanoseconds: 0)
      return ContentStatus(extent: extent, modificationTime: time)
    }
  }
}

final class MemoryWriter: ContentWriter {
  private let store: MemoryContentStore
  private let bytes: Mutex<[UInt8]>

  init(store: MemoryContentStore, size: Int) {
    self.store = store
    bytes = Mutex([UInt8](repeating: 0, count: size))
  }

  func write(_ buffer: UnsafeRawBufferPointer, at offset: Int64) throws(FSError) {
    guard Int(offset) + buffer.count <= store.limit.load(ordering: .relaxed) else {
      throw FSError(.noSpace, "the test's disk is full")
    }
    let copy = Array(buffer)
    bytes.withLock { bytes in bytes.replaceSubrange(Int(offset)..<Int(offset) + copy.count, with: copy) }
  }

  func copy(from descriptor: CInt, range: Range<Int64>) throws(FSError) -> Int64 { 0 }
  func clone(from descriptor: CInt) -> Bool { false }

  func commit() throws(FSError) -> ContentID {
    let content = bytes.withLock { $0 }
    store.committing.withLock { $0 }?()
    return store.state.withLock { state in
      state.writers -= 1
      state.content[state.next] = content
      state.next += 1
      return ContentID(rawValue: state.next - 1)
    }
  }

  func discard() { store.state.withLock { $0.writers -= 1 } }
}

final class MemoryRangeWriter: RangeWriter {
  private let store: MemoryContentStore
  private let reference: ContentID

  init(store: MemoryContentStore, reference: ContentID) {
    self.store = store
    self.reference = reference
  }

  func write(_ buffer: UnsafeRawBufferPointer, at offset: Int64) throws(FSError) {
    guard Int(offset) + buffer.count <= store.limit.load(ordering: .relaxed) else {
      throw FSError(.noSpace, "the test's disk is full")
    }
    let copy = Array(buffer)
    store.committing.withLock { $0 }?()
    let isThere = store.state.withLock { state in
      guard state.content[reference.rawValue] != nil else { return false }
      state.content[reference.rawValue]?.replaceSubrange(Int(offset)..<Int(offset) + copy.count, with: copy)
      return true
    }
    // On a disk, another file's by now.
    if !isThere { Issue.record("a transfer wrote to content that is gone") }
  }

  func finish() { store.state.withLock { $0.writers -= 1 } }
}
