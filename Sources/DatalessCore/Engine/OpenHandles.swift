/// Which nodes are open, and what was read through the handles of files that were dataless when opened.
///
/// Handles of resident files need no record of their own: they have the number 0 and count only for their node.
struct OpenHandles {
  struct Handle {
    let node: Int
    let process: ProcessID
    let openFlags: Int32
    var bytesRead: Int64 = 0
    var covered = ByteRangeSet()
    var highWaterMark: Int64 = 0
    var reads = 0
    var triggered = false
  }

  private var counts: [Int: Int] = [:]
  private var handles: [UInt64: Handle] = [:]
  private var nextHandle: UInt64 = 1
  private var closeWaiters: [Int: [@Sendable () -> Void]] = [:]

  func count(of node: Int) -> Int { counts[node, default: 0] }

  mutating func open(_ node: Int) { counts[node, default: 0] += 1 }

  mutating func openDataless(_ node: Int, process: ProcessID, openFlags: Int32) -> UInt64 {
    open(node)
    let number = nextHandle
    nextHandle += 1
    handles[number] = Handle(node: node, process: process, openFlags: openFlags)
    return number
  }

  subscript(number: UInt64) -> Handle? { handles[number] }

  /// Notes a read that was answered with `range`.
  mutating func noteRead(_ number: UInt64, range: Range<Int64>) {
    guard number != 0, let slot = handles.index(forKey: number) else { return }
    handles.values[slot].reads += 1
    handles.values[slot].bytesRead += Int64(range.count)
    handles.values[slot].covered.insert(range)
    handles.values[slot].highWaterMark = max(handles.values[slot].highWaterMark, range.upperBound)
  }

  mutating func noteTrigger(_ number: UInt64) {
    guard number != 0, let slot = handles.index(forKey: number) else { return }
    handles.values[slot].triggered = true
  }

  /// Closes one handle. - Returns: Its record, if it had one, and whom to tell that the node is no longer open.
  mutating func close(_ node: Int, handle number: UInt64) -> (handle: Handle?, waiters: [@Sendable () -> Void]) {
    let handle = number == 0 ? nil : handles.removeValue(forKey: number)
    let left = counts[node, default: 1] - 1
    if left > 0 {
      counts[node] = left
      return (handle, [])
    }
    counts[node] = nil
    return (handle, closeWaiters.removeValue(forKey: node) ?? [])
  }

  /// Asks to be told when the node's last handle closes.
  mutating func waitForClose(of node: Int, _ action: @escaping @Sendable () -> Void) {
    closeWaiters[node, default: []].append(action)
  }
}
