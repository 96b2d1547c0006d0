@testable import DatalessCore
import Glibc
import TestSupport
import Testing

/// `AccessOrder` beside a model that compares each intent with all others anew: readers, writers, intents within
/// others, of the same program and of several others, such as presenters that save first, renames, and ends of what is
/// held and of what waits, as when a process dies.
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

  /// How an intent is within others.
  private struct Nesting {
    var outer: UInt64?
    var isApart = false
    var yielders: Set<UInt64> = []
  }

  private struct Intent {
    let id: UInt64
    let position: UInt64
    var party: UInt64?
    var yielders: Set<UInt64> = []
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

    func isOfParty(of other: Intent) -> Bool { position == other.position && party == other.party }

    func waits(for other: Intent) -> Bool {
      !isOfParty(of: other) && !yielders.contains(other.id)
        && (other.isHeld || (other.position, other.party ?? 0) < (position, party ?? 0)) && excludes(other)
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

    /// Those that wait, and for which that one is not given back.
    func dependents(of held: Intent) -> [Intent] {
      let party = Set(intents.filter { $0.isOfParty(of: held) }.map(\.id))
      return intents.filter { !$0.isHeld && (party.contains($0.id) || !party.isDisjoint(with: $0.yielders)) }
    }

    /// Of those that are held, two exclude each other only where the one lets the other pass, or a rename has brought
    /// them together.
    var writersExclude: Bool {
      let held = intents.filter { $0.isHeld && $0.followed == 0 }
      return held.allSatisfy { one in
        held.allSatisfy { other in
          one.isOfParty(of: other) || one.yielders.contains(other.id) || other.yielders.contains(one.id)
            || !one.excludes(other)
        }
      }
    }

    func closesCircle(_ id: UInt64) -> Bool {
      guard intents.contains(where: { $0.id == id && !$0.isHeld }) else { return false }
      var reached: Set<UInt64> = [id]
      var hasGrown = true
      while hasGrown {
        hasGrown = false
        for one in intents where reached.contains(one.id) {
          for other in intents where one.waits(for: other) {
            let next = other.isHeld ? dependents(of: other) : [other]
            if next.contains(where: { $0.id == id }) { return true }
            for intent in next where reached.insert(intent.id).inserted { hasGrown = true }
          }
        }
      }
      return false
    }

    mutating func begin(_ id: UInt64, _ claims: [Claim], as nesting: Nesting) -> AccessStart {
      var position = lastPosition + 1
      var party: UInt64?
      var yielders = nesting.yielders
      let outer = nesting.outer
      if let outer {
        guard let leader = intents.first(where: { $0.id == outer }), leader.isHeld else { return .outerNotHeld }
        position = leader.position
        party = nesting.isApart ? id : leader.party
        yielders.formUnion(leader.yielders)
        if nesting.isApart { yielders.insert(outer) }
      } else {
        lastPosition = position
      }
      yielders.formIntersection(intents.map(\.id))
      intents.append(Intent(id: id, position: position, party: party, yielders: yielders, claims: claims))
      _ = settle()
      if intents.last?.isHeld == true { return .held }
      guard outer != nil || !yielders.isEmpty, closesCircle(id) else { return .waits }
      intents.removeLast()
      return .deadlock
    }

    mutating func end(_ id: UInt64) -> Set<UInt64> {
      intents.removeAll { $0.id == id }
      return settle()
    }

    mutating func rename(_ from: Int, to: Int) -> Set<UInt64> {
      var concerned: Set<UInt64> = []
      for index in intents.indices where intents[index].isHeld {
        // At or below the name, or of a directory that it leaves.
        let found = intents[index].claims.filter {
          below[$0.name][from] || below[from][$0.name] && !below[to][$0.name]
        }
        guard !found.isEmpty, intents[index].followed < OrderedIntent.followedMax else { continue }
        intents[index].followed += 1
        let claim = Claim(name: to, isWrite: found.contains(where: \.isWrite))
        if !intents[index].claims.contains(claim) { intents[index].claims.append(claim) }
        concerned.formUnion(dependents(of: intents[index]).map(\.id))
      }
      return concerned.filter { closesCircle($0) }
    }
  }

  /// The two side by side.
  private struct Pair {
    var order = AccessOrder()
    var model = Model()
    var lastID: UInt64 = 0
    var held = 0
    var savesHeld = 0
    var deadlocks = 0

    mutating func begin(_ claims: [Claim], as nesting: Nesting) -> Bool {
      lastID += 1
      let expected = model.begin(lastID, claims, as: nesting)
      let start = order.begin(
        lastID, claims.map { AccessClaim(Array(names[$0.name].utf8), isWrite: $0.isWrite) }, within: nesting.outer,
        isApart: nesting.isApart, yielders: nesting.yielders.sorted())
      if start == .held { held += 1 }
      if start == .held, nesting.isApart { savesHeld += 1 }
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
        } && model.writersExclude
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
    var nesting = Nesting()
    if kind < 16, !live.isEmpty { nesting.outer = random.element(of: live).id }
    nesting.isApart = nesting.outer != nil && random.oneIn(2)
    let held = live.filter(\.isHeld)
    if random.oneIn(4), !held.isEmpty {
      for _ in 0...random.below(2) { nesting.yielders.insert(random.element(of: held).id) }
    }
    return pair.begin(claims, as: nesting)
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
    #expect(pair.savesHeld > Self.steps / 100, "too few save first, seed \(seed)")
    #expect(pair.held > Self.steps / 10 && pair.deadlocks > Self.steps / 1_000, "too little happened, seed \(seed)")
  }
}
