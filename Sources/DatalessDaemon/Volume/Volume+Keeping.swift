import DatalessControl
import DatalessCore
import DatalessState
import Glibc

/// What a volume that is kept does at its beginning and at its end.
extension Volume {
  /// Removes what a crash has left in the state directory, and trees that were removed and not given back yet, while
  /// the volume serves.
  func removeLeftovers() {
    guard let state else { return }
    state.removeLeftovers { [weak engine] in engine?.removeLeftovers($0) }
    state.emptyTrash()
    if state.searchedItems != nil { engine.setSeeksLeftovers(true) }
    DetachedThread.start { [engine] in
      // What is left now is found the next time.
      if !state.wasClean { _ = try? state.reconcile() }
      engine.setSeeksLeftovers(false)
      try? state.findLostContent()
    }
  }

  /// How long the content may take to get to the disk when the volume ends.
  private static let flushLimit = Nanoseconds.milliseconds(5000)
  /// The same of what was used.
  private static let usesLimit = Nanoseconds.milliseconds(1000)
  /// How long after it was written it is brought there while the volume serves, so that there is little left at the
  /// end.
  private static let flushDelay = Nanoseconds.seconds(60)

  /// Brings content to the disk some time after it was written, on a thread that nobody waits for.
  func flushRegularly() {
    guard let state else { return }
    let (timer, ending) = (timer, ending)
    state.journal.whenContentIsWritten { [weak self] in
      timer.schedule(at: timer.now + Self.flushDelay) { [weak self] in
        DetachedThread.start { [weak self] in
          let goesOn = { ending.withLock { $0 == nil } }
          // What is in the way is told by who needs it: fsync(2), a commit, the end.
          if goesOn() { _ = try? state.flush(while: goesOn) }
          self?.flushRegularly()
        }
      }
    }
  }

  /// Keeps when files were used, from time to time, if any was.
  func keepUsesRegularly() {
    guard state != nil else { return }
    timer.schedule(at: timer.now + Self.flushDelay) { [weak self] in
      guard let self, let state, ending.withLock({ $0 == nil }) else { return }
      guard engine.lastUse != state.lastKeptUse else { return keepUsesRegularly() }
      DetachedThread.start { [self] in
        let ending = ending
        keepUses { ending.withLock { $0 == nil } }
        keepUsesRegularly()
      }
    }
  }

  /// What cannot be kept is of little use: the order of what goes for room is another one after a mount.
  private func keepUses(while goesOn: () -> Bool) {
    guard let state, engine.lastUse != state.lastKeptUse, goesOn() else { return }
    _ = try? state.keepUses(engine.uses(after: state.lastKeptUse), while: goesOn)
  }

  /// Has all changes on the disk, and the content, too, unless that takes too long. Nothing is served any more, so that
  /// nobody but the next mount waits for it.
  ///
  /// - Returns: Why it could not; nil if it could.
  func closeState() -> FSError? {
    guard let state else { return nil }
    let usesDeadline = MonotonicTime.current + Self.usesLimit
    keepUses { MonotonicTime.current < usesDeadline }
    let deadline = MonotonicTime.current + Self.flushLimit
    let goesOn = { MonotonicTime.current < deadline }
    do throws(FSError) {
      try state.close(leavesContent: engine.leavesContent, while: goesOn)
      return nil
    } catch {
      // Once more: what was in the way may have been in the way of one write.
      do throws(FSError) {
        try state.close(leavesContent: engine.leavesContent, while: goesOn)
        return nil
      } catch {
        let words = "dataless: the last changes could not be kept: \(error.message) (\(error.errno.name))\n"
        _ = Array(words.utf8).withUnsafeBytes { write(2, $0.baseAddress, $0.count) }
        return error
      }
    }
  }

  /// Has all that was changed so far on the disk. - Throws: ENOSPC, EDQUOT, EIO: why it cannot be kept.
  func keepChanges() async throws(FSError) {
    guard let state else { return }
    let failure = await withCheckedContinuation { [engine] continuation in
      engine.synchronize { continuation.resume(returning: $0) }
    }
    guard let failure else { return }
    throw FSError(failure.errno, "\(state.journal.backlog) changes cannot be kept: \(failure.message)")
  }

  /// What is damaged in the state directory, as far as that is known.
  private func troubleWarnings(_ troubles: StateTroubles) -> [String] {
    let directory = TerminalText.escaped(configuration.state ?? [])
    let remedy = "Unmount the volume, and run 'dataless check \(directory)'."
    var warnings: [String] = []
    if troubles.lostFiles > 0 {
      let first = troubles.firstLost.map { ", such as '\(TerminalText.escaped($0))'" } ?? ""
      warnings.append(
        "Of \(troubles.lostFiles) files\(first), what programs wrote is missing in the state directory, or the end of it."
          + " What is missing as a whole cannot be read (EIO). \(remedy)")
    }
    return warnings + troubles.damages.map { TerminalText.escaped("\($0). The volume has to be unmounted for that.") }
  }

  /// What should be said of the state directory now.
  var stateWarnings: [String] {
    guard let state else { return [] }
    var warnings: [String] = []
    if let flaw = state.missingChanges {
      warnings.append(
        "The catalog of the state directory may lack what was changed last: \(flaw). Nothing that it does not name is"
          + " removed.")
    }
    if state.namedFiles > 0 {
      let cause = state.missingChanges == nil ? "A loss of power has taken the names of" : "Nothing names"
      warnings.append(
        "\(cause) \(state.namedFiles) files that programs may have written. They are"
          + " 'lost+found-...' in the root of the volume: look at them, and remove what you do not need.")
    }
    warnings += troubleWarnings(state.troubles)
    guard let failure = state.journal.failure else { return warnings }
    return warnings + [
      "\(state.journal.backlog) changes wait for the disk of the state directory: \(failure.message) (\(failure.errno.name)). "
        + "They are lost if the daemon ends before that is mended."
    ]
  }
}

extension VolumeConfiguration.Writing {
  var ofEngine: EngineConfiguration.Writing {
    switch self {
    case .readOnly: .readOnly
    case .scratch: .scratch
    case .kept: .kept
    }
  }
}
