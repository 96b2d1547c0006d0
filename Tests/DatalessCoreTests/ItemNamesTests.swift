@testable import DatalessCore
import TestSupport
import Testing

/// The lists of the names that items have, beside a model: an array for each item.
@Suite struct ItemNamesTests {
  private static let root = ItemAttributes.directory(inode: 1)

  private func names(of node: NodeIndex, _ graph: borrowing NameGraph) -> [String] {
    var (found, name): ([String], NameIndex) = ([], graph.nodes[node].firstName)
    while name != .end, found.count < 1000 {
      if graph.names[name].isPresent { found.append(String(decoding: graph.names.text(of: name), as: UTF8.self)) }
      name = graph.names[name].nextOfNode
    }
    return found
  }

  private func link(_ text: String, _ node: NodeIndex, _ graph: inout NameGraph) -> NameIndex {
    Array(text.utf8).withUnsafeBufferPointer { graph.link($0, to: node, in: .root) } ?? .end
  }

  private func node(_ inode: UInt64, _ graph: inout NameGraph) throws -> NodeIndex {
    let node = graph.node(for: ListedItem(.file(inode: inode, size: 1)))
    return try #require(node)
  }

  private func isCalled(_ node: NodeIndex, _ graph: borrowing NameGraph) -> NameIndex {
    graph.presentName(of: node) ?? .end
  }

  @Test(arguments: TestSeed.seeds) func presentNamesComeFirstAndTheFirstStays(seed: UInt64) throws {
    var random = TestRandom(seed: seed)
    var graph = NameGraph(root: Self.root, nameKey: NameHashKey(low: 0, high: 0))
    let hasBegun = graph.beginListing(of: .root)
    #expect(hasBegun)
    var nodes: [NodeIndex] = []
    for number in 0..<3 { nodes.append(try node(10 + UInt64(number), &graph)) }
    var model: [NodeIndex: [String]] = [:]
    var present: [(name: NameIndex, text: String, node: NodeIndex)] = []
    for step in 0..<600 {
      let node = nodes[Int(random.next() % 3)]
      let choice = random.next() % 5
      if choice < 2 || present.isEmpty {
        let text = "n\(step)"
        present.append((link(text, node, &graph), text, node))
        model[node, default: []].append(text)
      } else {
        let index = Int(random.next() % UInt64(present.count))
        let old = present[index]
        model[old.node]?.removeAll { $0 == old.text }
        if choice == 2 {
          graph.relink(old.name, to: node)
          present[index].node = node
          model[node, default: []].append(old.text)
        } else {
          graph.setStanding(.gone, of: old.name)
          present.remove(at: index)
          // Swept at times, in between.
          var (formers, freed): ([NodeIndex], [NameGraph.FreedName]) = ([], [])
          while choice == 4, graph.hasSweepable {
            graph.sweepNext(limit: 7, formers: &formers, freed: &freed) { _ in false }
          }
        }
      }
      for node in nodes {
        let found = names(of: node, graph)
        #expect(
          Set(found) == Set(model[node] ?? []) && found.count == model[node]?.count ?? 0, "seed \(seed), step \(step)")
        let name = isCalled(node, graph)
        let isNamed = name != .end && graph.names[name].isPresent
        #expect(isNamed == !found.isEmpty, "seed \(seed), step \(step)")
      }
    }
  }

  /// A path that is told once is told again, whichever directories are listed meanwhile.
  @Test func anItemIsCalledByTheFirstOfItsNames() throws {
    var graph = NameGraph(root: Self.root, nameKey: NameHashKey(low: 0, high: 0))
    let node = try node(10, &graph)
    let first = link("first", node, &graph)
    var others: [NameIndex] = []
    for number in 0..<5 { others.append(link("other\(number)", node, &graph)) }
    var called = [isCalled(node, graph)]
    graph.setStanding(.gone, of: others[2])
    called.append(isCalled(node, graph))
    graph.setStanding(.gone, of: first)
    let second = isCalled(node, graph)
    let isPresent = graph.names[second].isPresent
    graph.setStanding(.present, of: first)
    called.append(isCalled(node, graph))
    #expect(called == [first, first, second] && second != first && isPresent)
  }

  /// In quadratic time this takes minutes, and the engine's lock is held meanwhile.
  @Test func sixtyThousandNamesOfOneFileComeAndGo() throws {
    var graph = NameGraph(root: Self.root, nameKey: NameHashKey(low: 0, high: 0))
    let node = try node(10, &graph)
    var names: [NameIndex] = []
    for number in 0..<60_000 { names.append(link("n\(number)", node, &graph)) }
    for name in names { graph.setStanding(.gone, of: name) }
    var (formers, freed): ([NodeIndex], [NameGraph.FreedName]) = ([], [])
    while graph.hasSweepable { graph.sweepNext(limit: 256, formers: &formers, freed: &freed) { _ in false } }
    let (count, isOrphan) = (graph.nodes.counts.files, graph.nodes[node].isOrphan)
    #expect(count == 0 && isOrphan && formers.contains(node))
  }
}
