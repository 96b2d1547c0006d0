internal import SystemPackage

/// A fetch from a store whose calls wait: each step is a task on the blocking lane, which writes what has come there,
/// and keeps no thread while the store waits.
struct AsyncFetch<Content: Fetch>: SourceFetch, AsyncTransferWork {
  private let store: any AsyncBackingStore
  private let item: StoreBinding
  var content: Content
  private var source: (any AsyncStoreContent)?

  init(_ content: Content, of item: StoreBinding, from store: any AsyncBackingStore) {
    self.content = content
    self.item = item
    self.store = store
  }

  mutating func advance(_ turn: some TransferTurn) async throws(FSError) -> TransferPause {
    var bytes: [UInt8] = []
    while !turn.isCancelled {
      switch content.plan.next(chunk: turn.chunk) {
      case .carry(let bytes): return .carry(bytes)
      case .makeWay: return .makeWay
      case .end(let isPlanned): return .ended(isPlanned ? .planned : .complete)
      case .store(let step): try await perform(step, &bytes)
      case .local(let step): guard try perform(step, bytes) else { return .ended(.gone) }
      }
    }
    return .ended(.gone)
  }

  private mutating func perform(_ step: StoreStep, _ bytes: inout [UInt8]) async throws(FSError) {
    if step == .open {
      source = try await store.open(item)
      return content.plan.opened(hasDescriptor: false)
    }
    guard let source else { throw FSError(.badFileDescriptor, "the source is not open") }
    switch step {
    case .open: break
    case .findData(let offset): content.plan.found(try await source.nextData(from: offset))
    case .verify: try await source.verify()
    case .read(let range):
      // Given back before the wait: thousands of fetches may wait.
      bytes = []
      while bytes.count < range.count {
        let rest = range.lowerBound + Int64(bytes.count)..<range.upperBound
        let part = try await source.read(rest)
        guard !part.isEmpty else { throw FSError.ended(at: rest.lowerBound, of: item) }
        guard part.count <= rest.count else { throw FSError(.ioError, "the store gave more bytes than were asked for") }
        if bytes.isEmpty { bytes = part } else { bytes += part }
      }
    }
  }

  private mutating func perform(_ step: Content.Plan.LocalStep, _ bytes: [UInt8]) throws(FSError) -> Bool {
    let generation = source?.generation ?? 0
    return try bytes.withUnsafeBufferPointer { (bytes) throws(FSError) in
      try content.perform(
        step, FetchedPart(descriptor: nil, generation: generation, bytes: UnsafeRawBufferPointer(bytes)))
    }
  }

  mutating func closeSource() -> UInt32 {
    guard let open = source else { return 0 }
    source = nil
    let generation = open.generation
    open.close()
    return generation
  }
}
