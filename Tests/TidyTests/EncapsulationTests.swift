import Testing

/// The core is made of parts that own their state: what a part knows is changed by its verbs and by nothing else, and a
/// part calls nothing outside. The compiler holds what is private; this holds that it is.
@Suite struct EncapsulationTests {
  /// The parts, and the types that they consist of.
  private static let parts: Set<String> = [
    "AccessDelays", "AccessEntry", "AccessOrder", "AccessPlaces", "AreaMoves", "AskedEvictions", "Attempt", "Attempts",
    "AttributePresentation", "BandwidthLink", "ChangeCosts",
    "CloseWaiters",
    "Conflicts",
    "ContentLeases", "ContentPolicies", "DirectoryHeights", "EagerFetches", "EvictionCandidates", "Gates", "GoneNames",
    "ItemContent",
    "ItemContents", "ItemExtras", "JoinedRenames", "Journal", "MadeNumbers",
    "MaterializationLedger", "NameArena", "NameChanges", "NameGraph", "NameHashTable", "NameTable", "Namespace",
    "NamespaceNews",
    "NodeTable",
    "OpenFileTable", "OpenFiles", "Openers", "OrderedIntent",
    "Orphans", "PageDrops", "PassthroughWrites", "PendingCalls", "PlaceUsers", "PlannedEvictions",
    "PositionQueue",
    "PresenterQuestions", "Presenters",
    "PurgeOrder",
    "RangeAttempts",
    "RecentFailures",
    "Reclamation",
    "RefreshQueue", "Restorations", "RestoredItems", "Room", "Slots", "Trash", "WaiterList", "Writers",
  ]

  /// State of a part that others may change, as "Type.property", with the reason.
  private static let open: [String: String] = [
    "Namespace.restored": "a part with verbs of its own, which say nothing of the namespace",
    "Namespace.conflicts": "the same",
    "Namespace.news": "the same",
  ]

  /// What the engine's state has beside parts, with the reason.
  private static let loose: [String: String] = [
    "writing": "how the volume is writable, which never changes",
    "localBytes": "the content store's own count, an atomic, which is read under the lock",
    "timeOfDay": "a clock, which is read under the lock",
    "events": "the sink of the log, which is called under the lock and guarded by its own",
    "simulation": "a value that is replaced as a whole, and looked at by all",
    "loadedAt": "a moment that is set with the simulation",
    "ending": "the error of the end, set once and looked at by all",
  ]

  /// What a part would need to call others, or to be called while it is changed.
  private static let outside = ["EngineState", "withLock", "EventSink", "TimerLane", "BackingStore", "KernelCache"]

  private struct Property {
    let owner: String
    let name: String
    let type: String
    let line: String
    let isVariable: Bool
    let isPrivate: Bool
  }

  private static let files = SourceTests.swiftFiles.filter { $0.hasPrefix("Sources/DatalessCore/") }

  /// The stored properties of a file's types, each with the type in whose braces it stands.
  private static func storedProperties(of file: String) -> [Property] {
    let declaration = #/\b(?:struct|class|enum|extension|protocol|actor)\s+([A-Za-z0-9_.]+)/#
    let property = #/^\s*((?:[a-z]+(?:\([a-z]+\))?\s+)*)(var|let)\s+(\w+)\s*(?::\s*([^={]+?)\s*)?(=\s*(\w*).*|\{.*)?$/#
    var found: [Property] = []
    var depth = 0
    var types: [(name: String, depth: Int)] = []
    for line in Repository.current.lines(of: file) {
      let code = TrapTests.code(line)
      if let type = types.last, type.depth == depth, let match = code.wholeMatch(of: property) {
        let modifiers = match.1.split(separator: " ")
        let isComputed = match.5?.hasPrefix("{") ?? false
        if !isComputed, !modifiers.contains("static") {
          found.append(
            Property(
              owner: type.name, name: String(match.3), type: String(match.4 ?? match.6 ?? ""), line: String(line),
              isVariable: match.2 == "var",
              isPrivate: modifiers.contains { $0.hasPrefix("private") || $0.hasPrefix("fileprivate") }))
        }
      }
      for character in code {
        if character == "{" { depth += 1 }
        if character == "}" { depth -= 1 }
      }
      // One that ends on its own line has nothing on the next.
      if let match = code.firstMatch(of: declaration),
        code.count(where: { $0 == "{" }) > code.count(where: { $0 == "}" })
      {
        types.append((String(match.1), depth))
      }
      while let type = types.last, type.depth > depth { types.removeLast() }
    }
    return found
  }

  @Test func aPartsStateIsItsOwn() {
    var seen: Set<String> = []
    var used: Set<String> = []
    for file in Self.files {
      for property in Self.storedProperties(of: file) where Self.parts.contains(property.owner) {
        seen.insert(property.owner)
        guard property.isVariable, !property.isPrivate else { continue }
        let name = property.owner + "." + property.name
        used.insert(name)
        #expect(
          Self.open[name] != nil,
          "\(file): others may change \(name): make it private and give the part a verb, or list it here with a reason")
      }
    }
    #expect(seen == Self.parts, "without state, or not found: \(Self.parts.subtracting(seen).sorted())")
    for name in Self.open.keys where !used.contains(name) { Issue.record("\(name) needs no exception any more") }
  }

  @Test func theEnginesStateIsMadeOfParts() {
    let file = "Sources/DatalessCore/Engine/EngineState.swift"
    let properties = Self.storedProperties(of: file).filter { $0.owner == "EngineState" }
    #expect(properties.count > Self.loose.count)
    for property in properties where Self.loose[property.name] == nil {
      let type = property.type.drop { "[(".contains($0) }.prefix { $0.isLetter }
      #expect(
        Self.parts.contains(String(type)),
        "\(file): \(property.name) is a \(property.type), no part: put it into one, or list it here with a reason")
    }
    for name in Self.loose.keys where !properties.contains(where: { $0.name == name }) {
      Issue.record("the engine's state has no \(name) any more")
    }
  }

  /// A newcomer finds every part in the picture of docs/ARCHITECTURE.md, and what it owns in the table below it.
  @Test func theArchitectureHasEveryPart() {
    let lines = Repository.current.lines(of: "docs/ARCHITECTURE.md")
    let properties = Self.storedProperties(of: "Sources/DatalessCore/Engine/EngineState.swift").filter {
      $0.owner == "EngineState" && Self.loose[$0.name] == nil
    }
    for type in Set(properties.map { $0.type.drop { "[(".contains($0) }.prefix { $0.isLetter } }) {
      #expect(
        lines.contains { $0.contains("\u{2500}\u{2500} \(type) ") },
        "docs/ARCHITECTURE.md: \(type) is not in the picture")
      #expect(lines.contains { $0.hasPrefix("| `\(type)` |") }, "docs/ARCHITECTURE.md: \(type) has no row")
    }
  }

  @Test func aPartCallsNothingOutside() {
    for file in Self.files where Self.storedProperties(of: file).contains(where: { Self.parts.contains($0.owner) }) {
      for (index, line) in Repository.current.lines(of: file).enumerated() {
        let code = TrapTests.code(line)
        for word in Self.outside where code.contains(word) {
          Issue.record("\(file):\(index + 1): a part knows no \(word): return what is to be done")
        }
      }
    }
  }

  /// That the reader of declarations sees what it is to see.
  @Test func statesAreRead() {
    let properties = Self.storedProperties(of: "Sources/DatalessCore/Engine/Attempt.swift").filter {
      $0.owner == "Attempt"
    }
    let variables = properties.filter(\.isVariable)
    #expect(properties.contains { $0.name == "plan" && !$0.isVariable && $0.type == "AttemptPlan" })
    #expect(variables.contains { $0.name == "stage" && $0.isPrivate } && variables.count > 8)
    #expect(!properties.contains { $0.name == "gate" || $0.name == "departedMax" || $0.name == "held" })
  }
}
