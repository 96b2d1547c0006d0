internal import SystemPackage

/// A fetch from a store whose calls block: each step runs on a thread of the blocking lane, or on a request thread.
struct BlockingFetch<Content: Fetch>: SourceFetch, BlockingTransferWork {
  private let store: any BackingStore
  private let item: StoreBinding
  var content: Content
  private var source: (any StoreContent)?

  init(_ content: Content, of item: StoreBinding, from store: any BackingStore) {
    self.content = content
    self.item = item
    self.store = store
  }

  mutating func advance(_ turn: some TransferTurn) throws(FSError) -> TransferPause {
    var buffer = FetchBuffer()
    while !turn.isCancelled {
      switch content.plan.next(chunk: turn.chunk) {
      case .carry(let bytes): return .carry(bytes)
      case .makeWay: return .makeWay
      case .end(let isPlanned): return .ended(isPlanned ? .planned : .complete)
      case .store(let step): try perform(step, &buffer)
      case .local(let step):
        let part = FetchedPart(
          descriptor: source?.descriptor, generation: source?.generation ?? 0, bytes: buffer.bytes)
        guard try content.perform(step, part) else { return .ended(.gone) }
      }
    }
    return .ended(.gone)
  }

  private mutating func perform(_ step: StoreStep, _ buffer: inout FetchBuffer) throws(FSError) {
    if step == .open {
      let opened = try store.open(item)
      source = opened
      return content.plan.opened(hasDescriptor: opened.descriptor != nil)
    }
    guard let source else { throw FSError(.badFileDescriptor, "the source is not open") }
    switch step {
    case .open: break
    case .findData(let offset): content.plan.found(try source.nextData(from: offset))
    case .verify: try source.verify()
    case .read(let range):
      let bytes = buffer.room(for: range.count)
      var filled = 0
      while filled < bytes.count {
        let position = range.lowerBound + Int64(filled)
        let count = try source.read(into: UnsafeMutableRawBufferPointer(rebasing: bytes[filled...]), at: position)
        guard count > 0 else { throw FSError.ended(at: position, of: item) }
        filled += count
      }
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

extension FSError {
  /// A source that ends early is no longer the listed version.
  static func ended(at position: Int64, of item: StoreBinding) -> FSError {
    FSError(.staleNFSFileHandle, "the source ends at byte \(position) of \(item.version.size)")
  }
}

/// What was read last, for as long as one step of a transfer.
private struct FetchBuffer: ~Copyable {
  private var memory = UnsafeMutableRawBufferPointer(start: nil, count: 0)
  private var count = 0

  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: memory[..<count]) }

  mutating func room(for size: Int) -> UnsafeMutableRawBufferPointer {
    if memory.count < size {
      memory.deallocate()
      // As malloc gives it: memory by pages is sought anew for each small file.
      memory = .allocate(byteCount: size, alignment: MemoryLayout<UInt64>.alignment)
    }
    count = size
    return UnsafeMutableRawBufferPointer(rebasing: memory[..<size])
  }

  deinit { memory.deallocate() }
}
