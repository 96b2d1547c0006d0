internal import SystemPackage

/// Whole trees that are removed in one request (`dataless remove`): looked at in steps, taken away at once, given back
/// in the background. See docs/WRITING.md, "Trees that are removed whole".
extension Engine {
  /// LIMIT: names that a survey looks at under one lock, and trees that are taken away under one.
  private static let surveyedAtATime = 512
  private static let detachedAtATime = 64
  /// LIMIT: how often trees are looked at anew because something was changed meanwhile.
  private static let surveysMax = 4
  /// How long the answer waits for the kernel to forget the names.
  private static let kernelPatience = Nanoseconds.seconds(1)

  /// Removes what `rm -rf` of the same caller would remove; all of it, or nothing.
  ///
  /// - Parameters:
  ///   - paths: Relative to the root. What lies in another one of them is removed with that.
  ///   - completion: Called exactly once, on another lane.
  public func remove(
    _ paths: [[UInt8]], by remover: Remover, completion: @escaping @Sendable (RemovalAnswer) -> Void
  ) {
    metadata.submit { [self] in
      // Names and nodes stay where they are while they are looked at.
      state.withLock { $0.reclamation.pin() }
      let outcome = removeLooking(paths, by: remover)
      unpin()
      switch outcome {
      case .success(let done): tell(done.targets) { completion(.removed(done.found)) }
      case .failure(let stop): completion(stop.answer)
      }
    }
  }

  private struct Removal {
    var targets: [RemovalTarget]
    var found = RemovedItems()
  }

  private struct Stop: Error {
    let answer: RemovalAnswer
  }

  private func removeLooking(_ paths: [[UInt8]], by remover: Remover) -> Result<Removal, Stop> {
    guard writing != .readOnly else {
      return .failure(
        Stop(answer: .refused(path: paths.first ?? [], FSError(.readOnlyFileSystem, "the volume is read-only"))))
    }
    do throws(Stop) {
      for round in 1...Self.surveysMax {
        let changes = state.withLock { $0.trash.changes }
        var targets = try find(paths)
        for index in targets.indices { targets[index].found = try survey(targets[index], by: remover) }
        // Others may change things all the time; rm, too, looks at each of them once.
        if let gone = detach(targets, by: remover, after: round < Self.surveysMax ? changes : nil) {
          var removal = Removal(targets: gone)
          for target in gone { removal.found.add(target.found) }
          return .success(removal)
        }
      }
      return .failure(
        Stop(
          answer: .refused(
            path: paths.first ?? [], FSError(.resourceBusy, "others keep changing the names that lead to it"))))
    } catch {
      return .failure(error)
    }
  }

  /// Finds all paths; those that lie in others are left out.
  private func find(_ paths: [[UInt8]]) throws(Stop) -> [RemovalTarget] {
    var targets: [RemovalTarget] = []
    var yielder = LockYielder(timer)
    for path in paths {
      var found: RemovalTarget?
      while found == nil {
        yielder.yieldIfDue()
        let (search, target): (EngineState.TargetSearch, RemovalTarget?) = state.withLock { state in
          if let ending = state.ending { return (.refused(ending), nil) }
          let search = state.target(at: path)
          guard case .found(let name) = search else { return (search, nil) }
          return (search, state.target(name, path: path))
        }
        switch search {
        case .found: found = target
        case .again: break
        case .needsListing(let directory): throw Stop(answer: .needsListing(directory))
        case .refused(let error): throw Stop(answer: .refused(path: path, error))
        }
      }
      if let found { targets.append(found) }
    }
    let tops = Set(targets.map(\.node))
    var seen: Set<[UInt8]> = []
    return targets.filter { target in
      seen.insert(target.path).inserted && !state.withLock { $0.isCovered(target, by: tops) }
    }
  }

  private func survey(_ target: RemovalTarget, by remover: Remover) throws(Stop) -> RemovedItems {
    var survey = RemovalSurvey(remover)
    var hasBegun = false
    var yielder = LockYielder(timer)
    while true {
      yielder.yieldIfDue()
      let step: RemovalSurvey.Step = state.withLock { state in
        if let ending = state.ending { return .refused(path: target.path, ending) }
        let known = state.surveyKnowledge
        guard !hasBegun else { return survey.step(state.namespace, limit: Self.surveyedAtATime, known) }
        hasBegun = true
        // Another one by now: `detach` sees it.
        guard let name = state.name(of: target) else { return .done }
        return survey.begin(name, in: state.namespace, known)
      }
      switch step {
      case .more: continue
      case .done: return survey.found
      case .unread(let directory): try countSaved(below: directory, &survey)
      case .refused(let path, let error): throw Stop(answer: .refused(path: path, error))
      }
    }
  }

  /// What is in a tree that is to go on the word of somebody who may remove anything. In steps.
  func lookAt(_ target: RemovalTarget) throws(FSError) -> RemovedItems {
    state.withLock { $0.reclamation.pin() }
    defer { unpin() }
    do throws(Stop) {
      return try survey(target, by: Remover(.nobody))
    } catch {
      guard case .refused(_, let refusal) = error.answer else { throw FSError(.resourceBusy, "it is not known yet") }
      throw refusal
    }
  }

  private func countSaved(below directory: NodeIndex, _ survey: inout RemovalSurvey) throws(Stop) {
    guard let saved = configuration.savedState else { return }
    let (item, path) = state.withLock { ($0.namespace.changedItem(directory), $0.namespace.path(of: directory)) }
    do throws(FSError) {
      survey.add(try saved.writing(below: item), below: path)
    } catch {
      throw Stop(answer: .refused(path: path, error))
    }
  }

  /// Takes all targets away: each step is one change of the journal, and nearly always there is one step.
  ///
  /// - Parameter changes: As they were before the targets were looked at; nil if that does not matter.
  /// - Returns: What was taken away; nil if something was changed meanwhile: then nothing was.
  private func detach(
    _ targets: [RemovalTarget], by remover: Remover, after changes: UInt64?
  ) -> [RemovalTarget]? {
    var gone: [RemovalTarget] = []
    var rest = targets[...]
    while !rest.isEmpty {
      let part = rest.prefix(Self.detachedAtATime)
      let isFirst = part.startIndex == targets.startIndex
      let (isDone, done): (Bool, [RemovalTarget]) = changeNames { [timer] state in
        guard !isFirst || changes == nil || state.trash.changes == changes else { return (false, []) }
        let names = part.map { state.name(of: $0) }
        // What went after the first step has been taken away, or moved, by somebody else: it is none of ours.
        let there = zip(part, names).filter { $0.1 != nil }
        guard !isFirst || there.count == part.count else { return (false, []) }
        let targets = there.map(\.0)
        state.detach(targets[...], there.compactMap(\.1), by: remover, at: timer.now)
        return (true, targets)
      }
      guard isDone else { return nil }
      gone += done
      rest = rest.dropFirst(Self.detachedAtATime)
    }
    emptyTrash()
    return gone
  }

  /// Makes the kernel forget the names; nothing below them is found from then on.
  private func tell(_ targets: [RemovalTarget], completion: @escaping @Sendable () -> Void) {
    kernel.expireNames()
    forgetAttributes(of: Array(Set(targets.map(\.parent))) + targets.map(\.node))
    let once = OnceFlag()
    let answer: @Sendable () -> Void = { if once.claim() { completion() } }
    timer.schedule(at: timer.now + Self.kernelPatience, answer)
    let left = Countdown(targets.count, answer)
    for target in targets {
      kernel.invalidateDirectory(target.parent, names: { [target.name] }) { [kernel] in
        left.one()
        // What it has cached below it goes: the volume is told what nobody uses any more.
        kernel.dropName(target.name, of: target.parent)
      }
    }
  }
}
