import DatalessCore
import Glibc
import Synchronization
import SystemPackage

/// As which kind of store an engine sees a scripted one.
enum StoreKind: CaseIterable, Sendable {
  case blocking, async
}

/// A scripted store whose calls wait: none is answered on the way in, and those of a stage that is held not before the
/// test says so.
final class ScriptedAsyncStore: AsyncBackingStore {
  enum Stage: Sendable, CaseIterable {
    case root, list, page, generation, link, attribute, attributeNames
    case open, findData, read, verify
  }

  private struct Wait {
    let stage: Stage
    let continuation: CheckedContinuation<Bool, Never>
  }

  private struct State {
    var held: Set<Stage> = []
    var waits: [Int: Wait] = [:]
    var calls = 0
    var givenUp: Set<Int> = []
    var cancelled: [Stage] = []
    var threads: Set<pthread_t> = []
  }

  private let store: ScriptedStore
  private let lane: ManualLane
  private let state = Mutex(State())
  /// Opened and not closed.
  let openContents = Atomic<Int>(0)
  /// The most bytes that a read brings, and the most entries of a page.
  let readMax = Atomic<Int>(50_000)
  let pageMax = Atomic<Int>(3)
  /// Bytes that a read brings beyond what was asked for.
  let surplus = Atomic<Int>(0)

  init(_ store: ScriptedStore, _ lane: ManualLane) {
    self.store = store
    self.lane = lane
  }

  // MARK: - What the test says and sees

  func hold(_ stages: Stage...) { state.withLock { $0.held.formUnion(stages) } }

  /// Answers the calls of a stage, those to come too.
  func release(_ stage: Stage) {
    let waits = state.withLock { state in
      state.held.remove(stage)
      let numbers = state.waits.filter { $0.value.stage == stage }.keys.sorted()
      return numbers.compactMap { state.waits.removeValue(forKey: $0) }
    }
    for wait in waits { wait.continuation.resume(returning: true) }
  }

  /// Calls that wait for an answer.
  func count(_ stage: Stage) -> Int { state.withLock { $0.waits.values.count { $0.stage == stage } } }
  var calls: Int { state.withLock { $0.calls } }
  /// Calls that were told to give up, in order.
  var cancelled: [Stage] { state.withLock { $0.cancelled } }
  /// Threads that have called it.
  var threadCount: Int { state.withLock { $0.threads.count } }

  fileprivate func pass(_ stage: Stage) async throws(FSError) {
    let number = state.withLock { state in
      state.threads.insert(pthread_self())
      state.calls += 1
      return state.calls
    }
    let isAnswered = await withTaskCancellationHandler {
      await withCheckedContinuation { (continuation: CheckedContinuation<Bool, Never>) in
        let answer: Bool? = state.withLock { state in
          if state.givenUp.contains(number) { return false }
          guard state.held.contains(stage) else { return true }
          state.waits[number] = Wait(stage: stage, continuation: continuation)
          return nil
        }
        if let answer { lane.submit { continuation.resume(returning: answer) } }
      }
    } onCancel: {
      let wait = state.withLock { state in
        state.cancelled.append(stage)
        state.givenUp.insert(number)
        return state.waits.removeValue(forKey: number)
      }
      wait?.continuation.resume(returning: false)
    }
    guard isAnswered else { throw FSError(.noMemory, "an error that nobody is to see") }
  }

  // MARK: - The store

  var root: ItemAttributes { store.root }
  var sourceName: String { store.sourceName }

  func currentRoot() async throws(FSError) -> ItemAttributes {
    try await pass(.root)
    return try store.currentRoot()
  }

  func list(_ directory: StoreBinding) async throws(FSError) -> any AsyncStoreListing {
    try await pass(.list)
    var entries: [StoreEntry] = []
    try store.list(directory) { (batch: ListingBatch) throws(FSError) in
      entries += (0..<batch.count).map { batch[$0] }
    }
    return ScriptedAsyncListing(self, entries)
  }

  func open(_ file: StoreBinding) async throws(FSError) -> any AsyncStoreContent {
    try await pass(.open)
    let content = try store.open(file)
    openContents.add(1, ordering: .relaxed)
    return ScriptedAsyncContent(self, content)
  }

  func readLink(_ link: StoreBinding) async throws(FSError) -> [UInt8] {
    try await pass(.link)
    return try store.readLink(link)
  }

  func extendedAttribute(_ name: [UInt8], of item: StoreBinding) async throws(FSError) -> [UInt8] {
    try await pass(.attribute)
    return try store.extendedAttribute(name, of: item)
  }

  func extendedAttributeNames(of item: StoreBinding) async throws(FSError) -> [[UInt8]] {
    try await pass(.attributeNames)
    return try store.extendedAttributeNames(of: item)
  }

  func generation(of item: StoreBinding) async -> UInt32 {
    do throws(FSError) { try await pass(.generation) } catch { return 0 }
    return store.generation(of: item)
  }
}

/// Entries as they were when the listing began, in pages.
private final class ScriptedAsyncListing: AsyncStoreListing {
  private let store: ScriptedAsyncStore
  private let rest: Mutex<ArraySlice<StoreEntry>>

  init(_ store: ScriptedAsyncStore, _ entries: [StoreEntry]) {
    self.store = store
    rest = Mutex(entries[...])
  }

  func next() async throws(FSError) -> ListingBatch? {
    try await store.pass(.page)
    let most = store.pageMax.load(ordering: .relaxed)
    return rest.withLock { rest in
      guard !rest.isEmpty else { return nil }
      var batch = ListingBatch()
      for entry in rest.prefix(most) { batch.append(entry.name, entry.attributes, token: entry.item.token) }
      rest = rest.dropFirst(most)
      return batch
    }
  }
}

private final class ScriptedAsyncContent: AsyncStoreContent {
  private let store: ScriptedAsyncStore
  private let content: any StoreContent
  var generation: UInt32 { content.generation }

  init(_ store: ScriptedAsyncStore, _ content: any StoreContent) {
    self.store = store
    self.content = content
  }

  func nextData(from offset: Int64) async throws(FSError) -> Range<Int64>? {
    try await store.pass(.findData)
    return try content.nextData(from: offset)
  }

  func read(_ range: Range<Int64>) async throws(FSError) -> [UInt8] {
    try await store.pass(.read)
    var bytes = [UInt8](repeating: 0, count: min(range.count, store.readMax.load(ordering: .relaxed)))
    let count: Result<Int, FSError> = bytes.withUnsafeMutableBytes { buffer in
      do throws(FSError) {
        return .success(try content.read(into: buffer, at: range.lowerBound))
      } catch {
        return .failure(error)
      }
    }
    bytes.removeLast(bytes.count - (try count.get()))
    return bytes + [UInt8](repeating: 0, count: store.surplus.load(ordering: .relaxed))
  }

  func verify() async throws(FSError) {
    try await store.pass(.verify)
    try content.verify()
  }

  func close() {
    store.openContents.subtract(1, ordering: .relaxed)
    content.close()
  }
}
