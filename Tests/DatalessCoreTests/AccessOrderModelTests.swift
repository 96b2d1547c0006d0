@testable import DatalessCore
import Glibc
import TestSupport
import Testing

/// `AccessOrder` beside a model that compares each intent with all others anew: readers, writers, intents within
/// others, renames, and ends of what is held and of what waits, as when a process dies.
///
/// `DATALESS_COORDINATION_STEPS` is how many steps a round has.
@Suite struct AccessOrderModelTests {
  private static let names = ["", "a", "b", "c", "a/x", "a/y", "b/x", "b/y", "a/x/1", "a/x/2"]
  private static let steps = getenv("DATALESS_COORDINATION_STEPS").flatMap { Int(String(cString: $0)) } ?? 6_000

  private static func lies(_ name: Int, below other: Int) -> Bool {
    name == other || other == 0 || names[name].hasPrefix(names[other] + "/")
  }

  private static let below: [[Bool]] = names.indices.map { name in names.indices.map { lies(name, below: $0) } }

  private struct Claim: Equatable {
    var name: Int
    var isWrite: Bool
  }

  private struct Intent {
    let id: UInt64
    let position: UInt64
    var claims: [Claim]
    var isHeld = false
    var followed = 0

    func excludes(_ other: Intent) -> Bool {
      claims.contains { mine in
        other.claims.contains { theirs in
          (mine.isWrite || theirs.isWrite)
            && (below[mine.name][theirs.name] || below[theirs.name][mine.name])
        }
      }
    }

    func waits(for other: Intent) -> Bool {
      other.position != position && (other.isHeld || other.position < position) && excludes(other)
    }
  }

  private struct Model {
    var intents: [Intent] = []
    var lastPosition: UInt64 = 0

    /// Holds whom nobody keeps, until nothing changes. - Returns: Who is held from now on.
    mutating func settle() -> Set<UInt64> {
      var held: Set<UInt64> = []
      var index = 0
      while index < intents.count {
        let intent = intents[index]
        index += 1
        guard !intent.isHeld, !intents.contains(where: { intent.waits(for: $0) }) else { continue }
        intents[index - 1].isHeld = true
        held.insert(intent.id)
        index = 0
      }
      return held
    }

    func closesCircle(_ id: UInt64) -> Bool {
      guard let start = intents.first(where: { $0.id == id }), !start.isHeld else { return false }
      var reached: Set<UInt64> = [id]
      var hasGrown = true
      while hasGrown {
        hasGrown = false
        for one in intents where reached.contains(one.id) {
          for other in intents where one.waits(for: other) {
            if other.id == id || (other.isHeld && other.position == start.position) { return true }
            let next = other.isHeld ? intents.filter { $0.position == other.position && !$0.isHeld } : [other]
            for intent in next where reached.insert(intent.id).inserted { hasGrown = true }
          }
        }
      }
      return false
    }

    mutating func begin(_ id: UInt64, _ claims: [Claim], within outer: UInt64?) -> AccessStart {
      var position = lastPosition + 1
      if let outer {
        guard let leader = intents.first(where: { $0.id == outer }), leader.isHeld else { return .outerNotHeld }
        position = leader.position
      } else {
        lastPosition = position
      }
      intents.append(Intent(id: id, position: position, claims: claims))
      _ = settle()
      if intents.last?.isHeld == true { return .held }
      guard outer != nil, closesCircle(id) else { return .waits }
      intents.removeLast()
      return .deadlock
    }

    mutating func end(_ id: UInt64) -> Set<UInt64> {
      intents.removeAll { $0.id == id }
      return settle()
    }

    mutating func rename(_ from: Int, to: Int) -> Set<UInt64> {
      var positions: Set<UInt64> = []
      for index in intents.indices where intents[index].isHeld {
        let found = intents[index].claims.filter { below[$0.name][from] }
        guard !found.isEmpty, intents[index].followed < OrderedIntent.followedMax else { continue }
        intents[index].followed += 1
        let claim = Claim(name: to, isWrite: found.contains(where: \.isWrite))
        if !intents[index].claims.contains(claim) { intents[index].claims.append(claim) }
        positions.insert(intents[index].position)
      }
      let waiting = intents.filter { !$0.isHeld && positions.contains($0.position) }.map(\.id)
      return Set(waiting.filter { closesCircle($0) })
    }
  }

  /// The two side by side.
  private struct Pair {
    var order = AccessOrder()
    var model = Model()
    var lastID: UInt64 = 0
    var held = 0
    var deadlocks = 0

    mutating func begin(_ claims: [Claim], within outer: UInt64?) -> Bool {
      lastID += 1
      let expected = model.begin(lastID, claims, within: outer)
      let start = order.begin(
        lastID, claims.map { AccessClaim(Array(names[$0.name].utf8), isWrite: $0.isWrite) }, within: outer)
      if start == .held { held += 1 }
      if start == .deadlock { deadlocks += 1 }
      return start == expected
    }

    mutating func end(_ id: UInt64) -> Bool {
      let expected = model.end(id)
      let found = order.end(id)
      held += found.count
      return found.count == expected.count && Set(found) == expected
    }

    mutating func rename(_ from: Int, to: Int) -> Bool {
      let expected = model.rename(from, to: to)
      let found = order.rename(Array(names[from].utf8), to: Array(names[to].utf8))
      guard Set(found) == expected else { return false }
      return found.allSatisfy { end($0) }
    }

    var agrees: Bool {
      order.count == model.intents.count
        && model.intents.allSatisfy { intent in
          guard order.isHeld(intent.id) == intent.isHeld else { return false }
          return order.blockers(of: intent.id).intents.isEmpty == intent.isHeld
        }
    }
  }

  private static func step(_ pair: inout Pair, _ random: inout TestRandom) -> Bool {
    let live = pair.model.intents
    let kind = random.below(20)
    // What is ended is as much as what is begun, and more when there are many.
    if !live.isEmpty, kind < 9 || live.count > 14 { return pair.end(random.element(of: live).id) }
    if kind < 10 {
      let (from, to) = (1 + random.below(names.count - 1), 1 + random.below(names.count - 1))
      return from == to || pair.rename(from, to: to)
    }
    let claims = (0...random.below(3)).map { _ in Claim(name: random.below(names.count), isWrite: random.oneIn(3)) }
    let outer = kind < 14 && !live.isEmpty ? random.element(of: live).id : nil
    return pair.begin(claims, within: outer)
  }

  @Test(arguments: TestSeed.seeds) func theOrderIsTheModels(seed: UInt64) {
    var random = TestRandom(seed: seed)
    var pair = Pair()
    for number in 0..<Self.steps {
      guard Self.step(&pair, &random), pair.agrees else {
        Issue.record("step \(number) differs from the model, seed \(seed)")
        return
      }
    }
    for intent in pair.model.intents {
      let isSame = pair.end(intent.id)
      #expect(isSame, "seed \(seed)")
    }
    #expect(pair.order.count == 0 && pair.order.placeCount == 0, "something is left, seed \(seed)")
    #expect(pair.held > Self.steps / 10 && pair.deadlocks > Self.steps / 1_000, "too little happened, seed \(seed)")
  }
}
