import DequeModule

/// Requests that take long to be read, and those of the same process behind them.
///
/// One is read at a time. Those of a process come in the order in which it asked, and processes in turn: one that asks
/// for a hundred thousand names again and again keeps another one for as long as one of its lists takes.
struct RequestTurns {
  private struct Request {
    let client: UInt64
    let isLong: Bool
  }

  enum Step: Equatable {
    /// To be taken up at once.
    case begin(UInt64)
    /// To be read elsewhere, until `done`.
    case read(UInt64)
  }

  private var queues: [Int32: Deque<Request>] = [:]
  /// Processes of which none is being read.
  private var waiting = Deque<Int32>()
  private var reading: Int32?
  /// The one of which one was read last, until what is short behind that has come.
  private var served: Int32?

  /// Whether requests of a process are still to be read: what it asks for now comes behind them.
  func areThere(of process: Int32) -> Bool { queues[process] != nil }

  mutating func add(_ client: UInt64, of process: Int32, isLong: Bool) {
    if queues[process] == nil { waiting.append(process) }
    queues[process, default: []].append(Request(client: client, isLong: isLong))
  }

  /// What comes next; nil: nothing, or not before the one that is being read.
  ///
  /// - Parameter isThere: Whether a client has not gone. One that has is passed over.
  mutating func next(isThere: (UInt64) -> Bool) -> Step? {
    guard reading == nil else { return nil }
    if let process = served {
      if let first = first(of: process, isThere: isThere) {
        if !first.isLong { return begin(first, of: process) }
        waiting.append(process)
      }
      served = nil
    }
    while let process = waiting.first {
      let first = first(of: process, isThere: isThere)
      if let first, !first.isLong { return begin(first, of: process) }
      waiting.removeFirst()
      guard let first else { continue }
      reading = process
      return .read(first.client)
    }
    return nil
  }

  /// The one that was read has been. What its process has asked for behind it comes next, as far as that is short.
  mutating func done() {
    guard let process = reading else { return }
    (reading, served) = (nil, process)
    queues[process]?.removeFirst()
  }

  private mutating func begin(_ request: Request, of process: Int32) -> Step {
    queues[process]?.removeFirst()
    return .begin(request.client)
  }

  /// The first of a process that is still wanted; nil: there is none.
  private mutating func first(of process: Int32, isThere: (UInt64) -> Bool) -> Request? {
    while let request = queues[process]?.first {
      if isThere(request.client) { return request }
      queues[process]?.removeFirst()
    }
    queues[process] = nil
    return nil
  }
}

/// A request that was received, and not read yet.
struct UnreadRequest {
  let head: CoordinationHead
  /// The paths, if they have come with it.
  let text: [UInt8]
  /// Where else they are.
  let memory: RequestMemory?
}
