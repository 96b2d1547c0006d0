/// Files that have been evicted, and whose pages the kernel has yet to drop: nobody opens one before that is done.
struct PageDrops {
  /// Who waits until the pages are gone, by file.
  private var waiting: [NodeID: [@Sendable () -> Void]] = [:]

  var isEmpty: Bool { waiting.isEmpty }

  func isUnderWay(of node: NodeID) -> Bool { !waiting.isEmpty && waiting[node] != nil }

  /// The kernel is about to be told. Not while that is under way already.
  mutating func begin(of node: NodeID) { waiting[node] = [] }

  /// Has an open wait for the end. - Returns: False if nothing is under way.
  mutating func wait(for node: NodeID, _ goOn: @escaping @Sendable () -> Void) -> Bool {
    guard isUnderWay(of: node) else { return false }
    waiting[node]?.append(goOn)
    return true
  }

  /// The kernel has dropped them. - Returns: Who goes on now, in the order in which they came.
  mutating func end(of node: NodeID) -> [@Sendable () -> Void] { waiting.removeValue(forKey: node) ?? [] }
}
