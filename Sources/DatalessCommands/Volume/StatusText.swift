import DatalessControl
import DatalessCore

/// A volume's status as text.
enum StatusText {
  static func lines(_ status: VolumeStatus) -> [String] {
    let mode =
      status.readOnly
      ? "read-only"
      : status.options["state"] == nil ? "writable; all changes are forgotten at unmount" : "writable; changes are kept"
    var lines = ["\(TerminalText.escaped(status.mountpointBytes)) (\(mode))"]
    lines.append(line("source", TerminalText.escaped(status.sourceBytes)))
    // Told in lines of their own.
    let told = status.options.filter { $0.key != "profile" && !$0.key.hasPrefix("present_") }
    if !told.isEmpty { lines.append(line("options", options(told))) }
    lines.append(line("profile", TerminalText.escaped(ProfileText.profile(status.profile))))
    lines.append(line("metadata", TerminalText.escaped(ProfileText.presentation(status.present))))
    let uptime = HumanText.duration(nanoseconds: status.uptimeNanoseconds)
    lines.append(line("daemon", "pid \(status.pid), session \(TerminalText.escaped(status.session)), up \(uptime)"))
    let lost = status.logDropped > 0 ? " (incomplete: \(HumanText.count(status.logDropped, "record")) lost)" : ""
    lines.append(line("log", TerminalText.escaped(status.logBytes) + lost))
    if status.isOffline {
      lines.append(
        line("store", "OFFLINE: what needs it fails with \(ProfileText.offline(status.profile.errnos))"))
    }
    lines.append(line("files", files(status.items, dirty: status.changes?.dirtyFiles ?? 0)))
    lines.append(line("dirs", directories(status.items)))
    lines.append(line("content", content(status.items)))
    if let room = status.room { lines.append(line("room", Self.room(room))) }
    if let trash = status.trash { lines.append(line("trash", Self.trash(trash))) }
    if let changes = status.changes {
      let keeps = status.options["state"] != nil
      lines.append(line("changes", keeps ? ChangesText.lineOfKept(changes) : ChangesText.line(changes)))
    }
    if let conflicts = status.conflicts, conflicts > 0 {
      let volume = ShellText.word(status.mountpointBytes)
      lines.append(line("conflicts", "\(HumanText.count(conflicts)); `dataless conflicts \(volume)` lists them"))
    }
    lines.append(line("done", done(status.materialized)))
    lines.append(line("opens", opens(status.opens)))
    lines.append(line("requests", HumanText.counts(status.requestsReachingTheVolume)))
    lines.append(
      line(
        "system",
        "kernel \(TerminalText.escaped(status.kernel)), libfuse \(TerminalText.escaped(status.libfuse)), "
          + options(status.fastPaths)
      ))
    if let rules = rules(status) { lines.append(line("rules", rules)) }
    for gate in status.gates { lines.append(line("gate", Self.gate(gate))) }
    if let access = status.access { lines += Self.access(access) }
    if let coordination = status.coordination { lines += Self.coordination(coordination) }
    if let budget = status.budget { lines.append(line("budget", Self.budget(budget))) }
    for warning in status.warnings { lines.append(line("warning", TerminalText.escaped(warning))) }
    if !status.inFlight.isEmpty {
      lines.append(line("in flight", HumanText.count(Int64(status.inFlight.count), "attempt")))
      for attempt in status.inFlight { lines += Self.attempt(attempt) }
    }
    return lines
  }

  private static func room(_ room: RoomCounts) -> String {
    let waiting = room.waiting > 0 ? "; \(HumanText.count(room.waiting, "caller")) waiting" : ""
    let removing = room.removingBytes > 0 ? "; \(HumanText.size(room.removingBytes)) being removed" : ""
    return "\(HumanText.size(room.usedBytes)) of \(HumanText.size(room.quotaBytes)) used\(removing)\(waiting)"
  }

  static func trash(_ trash: TrashCounts) -> String {
    let known = "\(HumanText.count(trash.items, "item")) (\(HumanText.size(trash.bytes))) being given back"
    guard let searched = trash.searchedItems else { return known }
    let search = "looking for what an earlier run has left, \(HumanText.count(searched, "item")) looked at"
    return trash.items > 0 ? "\(known); \(search)" : search
  }

  /// A volume of another user, of which only the mount table is known.
  static func foreign(_ volume: MountEntry) -> [String] {
    let name = TerminalText.escaped(volume.mountPoint)
    return [
      "\(name) (of user \(volume.userID.map(String.init) ?? "unknown"))",
      line("source", TerminalText.escaped(volume.source)),
      line("daemon", "not asked; `dataless status \(ShellText.word(volume.mountPoint))` does"),
    ]
  }

  static func line(_ title: String, _ text: String) -> String {
    "  " + title + String(repeating: " ", count: max(1, 10 - title.count)) + text
  }

  /// `latency 200.0 ms, allow_other no`: units by the ends of the names.
  private static func options(_ values: [String: JSONValue]) -> String {
    values.sorted { $0.key < $1.key }.map { element in
      let name = element.key
      if case .integer(let value) = element.value {
        if name.hasSuffix("_ns") { return "\(name.dropLast(3)) \(HumanText.duration(nanoseconds: value))" }
        if name.hasSuffix("_bytes_per_second") { return "\(name.dropLast(17)) \(Rate.format(value))" }
        if name.hasSuffix("_bytes") { return "\(name.dropLast(6)) \(HumanText.size(value))" }
      }
      return "\(name) \(element.value.text)"
    }.map { TerminalText.escaped($0) }.joined(separator: ", ")
  }

  private static func files(_ items: ItemCounts, dirty: Int64) -> String {
    let written = dirty > 0 ? " (\(HumanText.count(dirty)) dirty)" : ""
    let partial = items.filesPartial > 0 ? "\(HumanText.count(items.filesPartial)) partial, " : ""
    return "\(HumanText.count(items.files)) known: \(HumanText.count(items.filesDataless)) dataless, "
      + "\(HumanText.count(items.filesMaterializing)) materializing, \(partial)\(HumanText.count(items.filesResident)) resident"
      + written + ", "
      + "\(HumanText.count(items.filesEmpty)) empty"
  }

  private static func directories(_ items: ItemCounts) -> String {
    let others = items.others > 0 ? "; \(HumanText.count(items.others, "other item"))" : ""
    let foreign =
      items.otherFileSystems > 0
      ? "; \(HumanText.count(items.otherFileSystems, "mount point")) below SOURCE shown empty" : ""
    return "\(HumanText.count(items.directories)) known: \(HumanText.count(items.directoriesDataless)) dataless, "
      + "\(HumanText.count(items.directoriesListed)) listed\(others)\(foreign)"
  }

  private static func content(_ items: ItemCounts) -> String {
    "\(HumanText.size(items.bytesResident)) of \(HumanText.size(items.bytes)) resident, "
      + "\(HumanText.size(items.localBytes)) on disk"
  }

  private static func done(_ counts: MaterializedCounts) -> String {
    "\(HumanText.count(counts.files, "file")) (\(HumanText.size(counts.bytes))) and "
      + "\(HumanText.count(counts.directories, "directory", plural: "directories")) materialized, "
      + "\(HumanText.count(counts.failures, "failure")), \(HumanText.count(counts.refusals, "refusal"))"
  }

  private static func opens(_ counts: OpenCounts) -> String {
    func modes(_ counts: OpenModeCounts) -> String {
      let modes = ["direct": counts.direct, "page cache": counts.pageCache, "passthrough": counts.passthrough]
      return counts.sum == 0 ? "" : " (\(HumanText.counts(modes)))"
    }
    return "\(HumanText.count(counts.now.sum)) now\(modes(counts.now)), "
      + "\(HumanText.count(counts.sinceMount.sum)) since the mount\(modes(counts.sinceMount))"
  }

  /// nil when nothing is decided by rules or by chance.
  private static func rules(_ status: VolumeStatus) -> String? {
    if status.ruleCount == 0, status.seed == 0 { return nil }
    return "\(HumanText.count(status.ruleCount)), seed \(status.seed)"
  }

  private static func gate(_ gate: GateSummary) -> String {
    "\(TerminalText.escaped(gate.name)) \(gate.isOpen ? "open" : "closed"), \(HumanText.count(gate.callers, "caller")) "
      + "blocked by \(HumanText.count(gate.attemptCount, "attempt"))"
      + (gate.accessCount > 0 ? " and \(HumanText.count(gate.accessCount, "access", plural: "accesses"))" : "")
  }

  /// What delays of accesses have taken, and who waits now.
  private static func access(_ access: AccessStatus) -> [String] {
    let sums = access.operations.map { sum in
      "\(TerminalText.escaped(sum.operation)) \(HumanText.count(sum.calls, "call")), "
        + HumanText.duration(nanoseconds: sum.blockedNanoseconds)
    }
    let done = sums.isEmpty ? "no call delayed yet" : sums.joined(separator: "; ")
    guard access.waiting > 0 else { return [line("access", done)] }
    var lines = [line("access", "\(done); \(HumanText.count(access.waiting, "caller")) waiting")]
    for call in access.calls {
      let path = call.pathBytes.isEmpty ? "." : TerminalText.escaped(call.pathBytes)
      lines.append("    \(path):")
      lines += WaiterText.lines([call.waiter], count: 1, indent: "      ")
    }
    let more = access.waiting.minus(Int64(access.calls.count))
    if more > 0 { lines.append("    and \(HumanText.count(more)) more") }
    return lines
  }

  private static func budget(_ budget: BudgetStatus) -> String {
    let files = budget.maxFiles.map { " of \(HumanText.count($0))" } ?? ""
    let bytes = budget.maxBytes.map { " of \(HumanText.size($0))" } ?? ""
    let excess = budget.exceeded.isEmpty ? "" : ", EXCEEDED"
    return "\(HumanText.count(budget.files))\(files) files, \(HumanText.size(budget.bytes))\(bytes)\(excess)"
  }

  private static func attempt(_ attempt: InFlightAttempt) -> [String] {
    let path = attempt.pathBytes.isEmpty ? "." : TerminalText.escaped(attempt.pathBytes)
    let age = HumanText.duration(nanoseconds: attempt.ageNanoseconds)
    var lines = ["    \(path): \(TerminalText.escaped(attempt.stage)) for \(age)"]
    lines += WaiterText.lines(attempt.waiters, count: attempt.waiterCount, indent: "      ")
    return lines
  }
}

/// A volume's profile and presentation in one line each.
enum ProfileText {
  static func profile(_ profile: ProfileStatus) -> String {
    var text = "\(profile.name): files by \(profile.files.joined(separator: ", ")); directories by "
    text += "\(profile.directories.joined(separator: ", ")); \(errnos(profile.errnos))"
    if profile.directoryErrnos != profile.errnos { text += "; directories \(errnos(profile.directoryErrnos))" }
    return text
  }

  /// In the order in which they can happen.
  static func errnos(_ errnos: [String: String]) -> String {
    ["refused", "offline", "timeout", "superseded", "gone", "failed"].compactMap { key in
      errnos[key].map { "\(key) \($0)" }
    }.joined(separator: ", ")
  }

  /// The errno of what needs a store that is out of reach.
  static func offline(_ errnos: [String: String]) -> String { TerminalText.escaped(errnos["offline"] ?? "ETIMEDOUT") }

  static func presentation(_ present: PresentationStatus) -> String {
    let listed = present.stateListed ? " (listed)" : ""
    return
      "blocks \(present.blocks), ctime \(present.ctime), seek \(present.seek), state \(present.state ?? "none")\(listed), "
      + "type fuse.\(present.subtype)"
  }
}

/// Blocked callers, and intents beside them, as lines of text.
enum WaiterText {
  /// One line for each, and one for those that are not listed.
  static func lines(_ waiters: [InFlightWaiter], count: Int64, indent: String) -> [String] {
    var lines = waiters.map { waiter in
      let name = ProcessName.text(comm: waiter.comm, exe: waiter.exe, script: waiter.script)
      let blocked = HumanText.duration(nanoseconds: waiter.blockedNanoseconds)
      let place = ProcessName.place(unit: waiter.unit, container: waiter.container)
      if waiter.isIntent { return "\(indent)\(name)[\(waiter.pid)]\(place) for an intent, for \(blocked)" }
      let threadName = waiter.threadName.map { " '\(TerminalText.escaped($0))'" } ?? ""
      let thread = waiter.mainThread ? "main thread" : "thread \(waiter.tid)\(threadName)"
      return
        "\(indent)\(name)[\(waiter.pid)]\(place) \(thread), \(TerminalText.escaped(waiter.trigger)), "
        + "blocked \(blocked)"
    }
    let more = count.minus(Int64(waiters.count))
    if more > 0 { lines.append("\(indent)and \(HumanText.count(more)) more") }
    return lines
  }
}
