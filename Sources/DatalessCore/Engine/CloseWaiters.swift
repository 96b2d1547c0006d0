/// Who waits until nobody has a node open any more.
struct CloseWaiters {
  private var waiters: [NodeIndex: [UInt64: @Sendable () -> Void]] = [:]
  private var next: UInt64 = 1

  /// Of all nodes.
  var count: Int { waiters.values.reduce(0) { $0 + $1.count } }

  /// Asks to be told when the node's last handle closes. - Returns: A number to take it back by.
  mutating func add(_ node: NodeIndex, _ action: @escaping @Sendable () -> Void) -> UInt64 {
    let number = next
    next += 1
    waiters[node, default: [:]][number] = action
    return number
  }

  /// Asks no longer.
  mutating func remove(_ number: UInt64, of node: NodeIndex) {
    waiters[node]?[number] = nil
    if waiters[node]?.isEmpty == true { waiters[node] = nil }
  }

  /// The node is closed. - Returns: Whom to tell, in the order in which they asked.
  mutating func take(of node: NodeIndex) -> [@Sendable () -> Void] {
    guard !waiters.isEmpty, let waiting = waiters.removeValue(forKey: node) else { return [] }
    return waiting.sorted { $0.key < $1.key }.map(\.value)
  }
}
