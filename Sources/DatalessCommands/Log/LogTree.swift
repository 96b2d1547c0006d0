import DatalessControl

/// Rows grouped by the processes that they are of, each below the one that started it: `dataless log --tree`.
///
/// Memory: all rows that are printed, because the last may belong to the first process.
struct LogTree {
  private struct Node {
    var title: String
    var parent: UInt32?
    var rows: [String] = []
    var children: [UInt32] = []
  }

  /// Deeper processes are indented no further: anybody may have written the log.
  private static let indentMax = 16

  /// Rows of no process, which come first.
  private var others: [String] = []
  private var nodes: [UInt32: Node] = [:]
  /// Processes in the order of their first rows.
  private var order: [UInt32] = []

  /// - Parameters:
  ///   - line: The row as text.
  ///   - id: The process that it is of; nil for none.
  mutating func add(_ line: String, of id: UInt32?, _ processes: LogProcesses) {
    guard let id else {
      others.append(line)
      return
    }
    var ancestors = (processes[id]?.parents ?? [])[...]
    var next: UInt32? = id
    // A known one has its ancestors, too: no circle of them is followed.
    while let one = next, nodes[one] == nil {
      next = ancestors.popFirst() ?? processes[one]?.parents.first
      nodes[one] = Node(title: Self.title(one, processes[one]), parent: next)
      order.append(one)
    }
    nodes[id]?.rows.append(line)
  }

  /// The lines, without the header of the columns.
  var lines: [String] {
    var nodes = nodes
    var roots: [UInt32] = []
    for id in order {
      if let parent = nodes[id]?.parent, nodes[parent] != nil {
        nodes[parent]?.children.append(id)
      } else {
        roots.append(id)
      }
    }
    var lines = others
    var isPrinted: Set<UInt32> = []
    // Not recursive: a chain of processes may be as long as a log. What is in a circle has no root: it comes last.
    for root in roots + order {
      var next: [(id: UInt32, depth: Int)] = [(root, 0)]
      while let (id, depth) = next.popLast() {
        guard isPrinted.insert(id).inserted, let node = nodes[id] else { continue }
        let indent = String(repeating: "  ", count: min(depth, Self.indentMax))
        lines.append(indent + node.title)
        lines += node.rows.map { indent + "  " + $0 }
        next += node.children.reversed().map { ($0, depth + 1) }
      }
    }
    return lines
  }

  /// `python3 fm.py[4711]`.
  private static func title(_ id: UInt32, _ process: LogProcesses.Process?) -> String {
    guard let process else { return "process \(id)" }
    return "\(TerminalText.escaped(process.name))[\(process.pid)]"
  }
}
