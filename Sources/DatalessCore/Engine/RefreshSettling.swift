/// What a refresh does when all directories are listed: names that came are matched with names that went.
struct RefreshSettling {
  private let engine: Engine
  private var deferred: [RefreshFindings.Deferred]
  private let vanished: [NameIndex]
  private var formers: [StoreIdentity: RefreshFindings.Former] = [:]

  /// Takes over what is open, and looks which of it may be the same.
  init(_ engine: Engine, _ findings: inout RefreshFindings) {
    self.engine = engine
    deferred = findings.deferred
    vanished = findings.vanished
    findings.deferred = []
    findings.vanished = []
    findings.savedBelow = engine.savedBelow(directories())
    engine.state.withLock { $0.refreshes.beginSettling() }
    guard !deferred.isEmpty else { return }
    let wanted = Set(deferred.map { StoreIdentity($0.item.attributes) })
    var formers: [StoreIdentity: RefreshFindings.Former] = [:]
    inSteps(of: 256, vanished) { state, part in state.noteFormer(part, wanted: wanted, formers: &formers) }
    inSteps(of: 64, deferred) { state, part in
      state.noteFormer(part.compactMap { state.name(of: $0) }, wanted: wanted, formers: &formers)
    }
    self.formers = formers
  }

  /// The directories that may have to go.
  private func directories() -> [NodeIndex] {
    guard engine.keepsState else { return [] }
    var found: [NodeIndex] = []
    inSteps(of: 256, vanished) { state, part in
      found += part.map { state.namespace.record(of: $0).node }.filter { state.namespace[$0].kind == .directory }
    }
    inSteps(of: 64, deferred) { state, part in
      found += part.compactMap { state.name(of: $0) }.map { state.namespace.record(of: $0).node }.filter {
        state.namespace[$0].kind == .directory
      }
    }
    return found
  }

  /// Asks the store for what tells a renamed item from a new one with its inode number, where something was noted to
  /// compare with.
  mutating func askGenerations(_ store: any BackingStore) {
    var yielder = LockYielder(engine.timer)
    for index in deferred.indices {
      yielder.yieldIfDue()
      if let item = askedItem(index) { deferred[index].generation = store.generation(of: item) }
    }
  }

  mutating func askGenerations(_ store: any AsyncBackingStore) async {
    var yielder = LockYielder(engine.timer)
    for index in deferred.indices {
      yielder.yieldIfDue()
      if let item = askedItem(index) { deferred[index].generation = await store.generation(of: item) }
    }
  }

  /// nil if the store need not be asked.
  private func askedItem(_ index: Int) -> StoreBinding? {
    engine.state.withLock { state in
      let item = deferred[index]
      guard state.needsGeneration(item, formers) else { return nil }
      let directory = state.namespace.binding(of: item.place.directory)
      return directory.map { StoreBinding(key: $0.childKey(item.name), version: item.item.version) }
    }
  }

  /// Puts in what came under the names that it has, then takes away what went.
  mutating func settle(_ findings: inout RefreshFindings) {
    var formers: [StoreIdentity: RefreshFindings.Former] = [:]
    swap(&formers, &self.formers)
    inSteps(of: 32, deferred) { state, part in
      for item in part { state.settle(item, formers: &formers, findings: &findings, now: engine.timer.now) }
    }
    inSteps(of: 64, vanished) { state, part in
      for name in part { state.dropVanished(name, findings: &findings, now: engine.timer.now) }
    }
    let displaced = findings.displaced
    findings.displaced = []
    inSteps(of: 64, displaced) { state, part in
      for directory in part { state.keepDisplaced(directory, findings: &findings) }
      state.tellConflicts(engine.timer.now)
    }
    engine.tellChangedNodes()
  }

  private func inSteps<Element>(
    of size: Int, _ elements: [Element], _ body: (inout EngineState, ArraySlice<Element>) -> Void
  ) {
    var start = 0
    var yielder = LockYielder(engine.timer)
    while start < elements.count {
      let end = min(start + size, elements.count)
      engine.state.withLock { body(&$0, elements[start..<end]) }
      start = end
      yielder.yieldIfDue()
    }
  }
}
