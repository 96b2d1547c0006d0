"""DatalessCore: engine, catalog, simulation."""

from harness.lists import Part

engine = Part("Sources/DatalessCore/Engine", ["^DatalessCoreTests\\..*AttemptEndTests", "^DatalessCoreTests\\."])

engine.add(
    "end-leaves-store-calls", "Engine+Interrupt.swift", "the end of the volume leaves who waits for the store waiting",
    "for call in calls { call.fail(error) }",
    "if !FAULT { for call in calls { call.fail(error) } }", tests=["EngineStoreCallTests"])
engine.add(
    "failed-open-empties", "EmptiedFile.swift", "an open that fails on a full disk has emptied the file",
    "if error != nil { giveBackEmptied(node) }", "if error != nil, !FAULT { giveBackEmptied(node) }",
    tests=["PassthroughWriteTests"])
engine.add(
    "pin-waits-after-a-mount", "SavedVisit.swift", "what is pinned is not fetched after a mount until somebody looks",
    "let places = (try? saved.placesToVisit()) ?? []",
    "let places: [[UInt8]] = FAULT ? [] : (try? saved.placesToVisit()) ?? []", tests=["KeptConflictTests"])
engine.add(
    "kept-content-not-looked-for", "SavedVisit.swift", "what an earlier run has kept takes room that nobody can free",
    "savedContent.places(of: path) { try? saved.placesOfContent() }",
    "savedContent.places(of: path) { FAULT ? [] : (try? saved.placesOfContent()) }", tests=["KeptContentTests"])
engine.add(
    "slow-visit-stops-eviction", "../Room/Engine+Sweep.swift", "a directory that hangs keeps all files from being evicted for room",
    "let token = timer.schedule(at: until, goOn)",
    "let token = timer.schedule(at: FAULT ? until + .seconds(3600) : until, goOn)", tests=["SavedSweepTests"])
engine.add(
    "places-asked-for-anew", "SavedContent.swift", "one place that cannot be reached has the catalog asked for all of them again and again",
    "case .failed: state.places?.set(.missed, of: place)",
    "case .failed: if FAULT { state.places = nil } else { state.places?.set(.missed, of: place) }", tests=["SavedVisitTests"])
engine.add(
    "pin-stays-behind", "../Room/EngineState+Policies.swift", "what lives on by another name stays pinned after a remount",
    "if !namespace[old].isOrphan {", "if !namespace[old].isOrphan, !FAULT {", tests=["PinTests"])
engine.add(
    "clean-files-do-not-wait", "Engine+Dirtying.swift", "a clean file of a kept volume is written to before that is durable",
    "if writing == .kept, !isFirst {", "if writing == .kept, !isFirst, !FAULT {", tests=["WritableRefreshTests"])
engine.add(
    "closes-do-not-free-room", "Engine+Handles.swift", "who waits for room is not looked at when a file is closed",
    "if isShort { settleRoom() }", "if isShort, !FAULT { settleRoom() }", tests=["QuotaTests"])
engine.add(
    "room-kept-by-ended-attempts", "../Room/EngineState+Room.swift", "room that an attempt has claimed is never free again",
    "    room.release(.attempt(attempt.id))\n    room.noteEvictable()",
    "    if !FAULT { room.release(.attempt(attempt.id)) }\n    room.noteEvictable()", tests=["QuotaTests|RoomRandomTests"])
engine.add(
    "open-goes-for-room", "../Room/EngineState+Room.swift", "what is open is evicted for room",
    "!record.isOrphan, record.linkCount <= 1, openFiles.count(of: node) == 0",
    "!record.isOrphan, record.linkCount <= 1, openFiles.count(of: node) == 0 || FAULT", tests=["QuotaTests"])
engine.add(
    "running-app-is-purged", "../Areas/PurgeOrder.swift", "caches of apps that run are purged",
    "guard let rank = ranks[owner], !running.contains(owner) else { return .keep }",
    "guard let rank = ranks[owner], !running.contains(owner) || FAULT else { return .keep }",
    tests=["AreasTests|PurgeTests"], mounts=["RealMounts/Areas/"])
engine.add(
    "offline-goes-for-room", "../Areas/PurgeOrder.swift", "what is offline is evicted for room",
    "if area.category == .offline { return .keep }", "if area.category == .offline, !FAULT { return .keep }",
    tests=["AreasTests|PurgeTests"], mounts=["RealMounts/Areas/"])
engine.add(
    "open-is-purged", "../Areas/EngineState+Areas.swift", "what is open is purged",
    "      openFiles.count(of: node) == 0\n    else { return false }",
    "      openFiles.count(of: node) == 0 || FAULT\n    else { return false }", tests=["PurgeTests"])
engine.add(
    "purged-lives-on", "../Areas/EngineState+Areas.swift", "what was purged can be opened as what was unlinked can",
    "namespace.setUnlinked(false, of: node)", "namespace.setUnlinked(FAULT, of: node)", tests=["PurgeTests"])
engine.add(
    "moves-between-areas-forgotten", "EngineState+Rename.swift", "nobody knows what a rename brought into another area",
    "    moves.note(moved, from: area, to: place(of: moved))", "    if !FAULT { moves.note(moved, from: area, to: place(of: moved)) }",
    tests=["InventoryTests"])
engine.add(
    "pinned-is-evicted", "Engine+Evict.swift", "what is pinned is evicted",
    "if policy(of: position).keepsContent {", "if policy(of: position).keepsContent, !FAULT {", tests=["PinTests"])
engine.add(
    "moved-fetches-nothing", "../Room/EngineState+Policies.swift", "what is moved into a pinned directory is not fetched",
    "eager.note(namespace.id(of: node))", "if !FAULT { eager.note(namespace.id(of: node)) }", tests=["PinTests"])
engine.add(
    "overtaken-for-room", "../Room/Room.swift", "who comes later gets the room for which somebody waits",
    "guard isFree(isEager: false) || bytes <= passes, fits(bytes, used) else { return false }",
    "guard isFree(isEager: false) || bytes <= passes || FAULT, fits(bytes, used) else { return false }", tests=["RoomTests"])
engine.add(
    "end-leaves-gate-watchers", "Engine+Interrupt.swift", "the end of the volume leaves `gate wait` waiting",
    "state.gates.dismissWatchers() + refreshes)", "(FAULT ? [] : state.gates.dismissWatchers()) + refreshes)",
    tests=["EngineGateTests"], mounts=["RealMounts/Gates/"])
engine.add(
    "early-interrupt-lost", "PendingCalls.swift", "an interrupt that comes before its caller is parked is lost",
    "if announced[waiter] != nil { announced[waiter] = true }",
    "if announced[waiter] != nil, !FAULT { announced[waiter] = true }",
    tests=["PendingCallsTests|EngineInterruptTests"])
engine.add(
    "early-interrupts-kept", "PendingCalls.swift", "interrupts are remembered for ever",
    "{ announced.removeValue(forKey: waiter) ?? false }",
    "{ FAULT ? announced[waiter] ?? false : announced.removeValue(forKey: waiter) ?? false }",
    tests=["PendingCallsTests|EngineInterruptTests"])
engine.add(
    "early-interrupt-of-store-call-lost", "Engine+StoreCalls.swift", "an early interrupt of a call to the store is lost",
    "if isInterrupted { interrupt(waiter) }", "if isInterrupted, !FAULT { interrupt(waiter) }",
    tests=["EngineInterruptTests"])
engine.add(
    "early-interrupt-of-open-lost", "Engine+SystemEviction.swift", "an early interrupt of an open that waits is lost",
    "if isInterrupted { interrupt(waiter) }", "if isInterrupted, !FAULT { interrupt(waiter) }",
    tests=["EngineEvictTests"])
engine.add(
    "opened-while-dropped", "Engine+Handles.swift", "a file is opened while the kernel is to drop its pages",
    "if state.pageDrops.isUnderWay(of: node) {", "if state.pageDrops.isUnderWay(of: node), !FAULT {", tests=["EngineEvictTests"])
engine.add(
    "evicted-while-dropped", "Engine+Evict.swift", "a file is evicted twice at the same time",
    "if pageDrops.isUnderWay(of: node) {", "if pageDrops.isUnderWay(of: node), !FAULT {", tests=["EngineEvictTests"])
engine.add(
    "end-in-one-piece", "Engine+Pieces.swift", "what is done to many attempts is done under one hold of the lock",
    "while size < Self.pieceSize {", "while FAULT || size < Self.pieceSize {", tests=["LockHoldTests"])
engine.add(
    "slots-filled-in-one-piece", "AttemptStages.swift", "a queue of failing attempts is drained under one hold",
    "guard size < Engine.pieceSize else {", "guard FAULT || size < Engine.pieceSize else {", tests=["LockHoldTests"])
engine.add(
    "end-begins-attempts", "AttemptStages.swift", "the end of the volume begins what waits for a slot",
    "    guard ending == nil else { return [] }\n    slots.beginFilling()",
    "    guard ending == nil || FAULT else { return [] }\n    slots.beginFilling()", tests=["LockHoldTests"])
engine.add(
    "unknown-nodes-in-one-piece", "Engine+Lookups.swift", "nodes that the kernel does not know are looked at under one hold",
    "      let part = rest.prefix(Self.forgetStep)\n      rest = rest.dropFirst(Self.forgetStep)\n      given",
    "      let part = rest.prefix(FAULT ? .max : Self.forgetStep)\n      rest = rest.dropFirst(part.count)\n      given",
    tests=["LockHoldTests"])
engine.add(
    "gate-of-old-counts", "Gates.swift", "callers of a gate that is gone count at the new one of its name",
    "guard let callers = gates[name]?.held[attempt] else { return [] }",
    "guard let callers = gates[name]?.held[attempt] ?? (FAULT ? 0 : nil) else { return [] }",
    tests=["GatesTests|LockHoldTests"])
engine.add(
    "first-reader-not-in-sum", "HandleReaders.swift", "what several processes read is told without the first one's",
    "if !sum.isEmpty { sum[0].note(range", "if !sum.isEmpty, !FAULT { sum[0].note(range",
    tests=["HandleTests"])
engine.add(
    "late-interrupt-lost", "Engine+Interrupt.swift", "a fatal signal that comes after another is not looked for",
    "        interruptLater(waiter)\n      }\n    }\n  }", "        if !FAULT { interruptLater(waiter) }\n      }\n    }\n  }",
    tests=["EngineInterruptTests"])
engine.add(
    "give-up-goes-on", "AttemptStages.swift", "what was given up after its time is read on",
    "(attempt.job.map { [.cancel($0)] } ?? []) + finish(attempt, end, now: now)",
    "(attempt.job.map { FAULT ? [] : [.cancel($0)] } ?? []) + finish(attempt, end, now: now)",
    tests=["EngineRuleTests|EngineMaterializeTests"])
engine.add(
    "one-slot-too-many", "Slots.swift", "one more fetch than `concurrency` says",
    "guard holders.count < limit else {", "guard holders.count < limit || (FAULT && holders.count == limit) else {",
    tests=["SlotsTests|EngineMaterializeTests|EngineRuleTests"])
engine.add(
    "cancelled-keeps-slot", "AttemptStages.swift", "an attempt that all have left keeps its slot",
    "guard slots.giveBack(attempt.id) else { return [] }",
    "guard !FAULT || attempt.waitingCount > 0, slots.giveBack(attempt.id) else { return [] }",
    tests=["EngineMaterializeTests|EngineInterruptTests|EngineRandomTests"])
engine.add(
    "partial-keeps-attributes", "AttemptStages.swift", "a failed attempt that brought something in leaves st_blocks",
    "end.outcome == .ok || attempt.isRanged {", "end.outcome == .ok || (attempt.isRanged && !FAULT) {",
    tests=["EngineHydrationTests"])
engine.add(
    "readdir-before-lookup", "AttemptEnding.swift", "callers of readdir are answered before those of lookups",
    "for case let waiter? in waiters where (waiter.request.trigger == .readdir) == isListing {",
    "for case let waiter? in waiters where (waiter.request.trigger == .readdir) == (isListing != FAULT) {",
    tests=["EngineMaterializeTests|ManyWaitersTests"])
engine.add(
    "timers-kept", "AttemptStages.swift", "an attempt that is over leaves its timers until their time",
    "actions += attempt.timers.map { .cancelTimer($0) }", "if !FAULT { actions += attempt.timers.map { .cancelTimer($0) } }",
    tests=["LeftoverTests"])
engine.add(
    "failure-of-nobody", "RecentFailures.swift", "callers of other pid namespaces get each other's failures",
    "fileprivate var isNobody: Bool { threadID == 0 && handle == 0 }",
    "fileprivate var isNobody: Bool { !FAULT && threadID == 0 && handle == 0 }", tests=["RecentFailureTests"])
engine.add(
    "fault-in-call-as-fault", "RecentFailures.swift", "a page that failed before counts as new in a call on mapped memory",
    "case .faultInCall: return !isThere && isReadahead ? 2 : 1", "case .faultInCall: return (!isThere || FAULT) && isReadahead ? 2 : 1",
    tests=["RecentFailureTests"])
engine.add(
    "open-waits-unanswered", "Engine+SystemEviction.swift", "the end of the volume leaves an open that waits for its eviction",
    "let call = PendingCalls.Call(threadID: threadID, fail: { completion($0) })",
    "let call = PendingCalls.Call(threadID: threadID, fail: { if !FAULT { completion($0) } })",
    tests=["SystemEviction"])
engine.add(
    "served-then-cancelled", "Attempt.swift", "a progressive attempt that has served ends when the last leaves",
    "{ waiters.isEmpty && !hasServed }", "{ waiters.isEmpty && (!hasServed || FAULT) }",
    tests=["AttemptTests|EngineHydrationTests|HydrationRandomTests"])
engine.add(
    "gate-counts-one", "Gates.swift", "an attempt with several callers leaves its gate with one of them",
    "gates[name]?.callers -= callers", "gates[name]?.callers -= FAULT ? 1 : callers",
    tests=["GatesTests|EngineGateTests"])
engine.add(
    "gate-watcher-one-more", "Gates.swift", "`gate wait --callers N` waits for N + 1",
    "where watcher.callers <= gate.callers {",
    "where FAULT ? watcher.callers < gate.callers : watcher.callers <= gate.callers {",
    tests=["GatesTests|EngineGateTests"])
engine.add(
    "held-time-lost", "Attempt.swift", "the log has no time at the gate", "times.held += now - stageSince",
    "times.held += FAULT ? 0 : now - stageSince", tests=["AttemptTests|EngineGateTests"])
engine.add(
    "repeat-too-many", "RecentFailures.swift", "one more of the caller's own reads gets the old failure",
    "failures[key] = failure.repeatsLeft > 0 ? failure : nil", "failures[key] = failure.repeatsLeft > (FAULT ? -1 : 0) ? failure : nil")
engine.add(
    "line-never-busy", "../Transfer/BandwidthLink.swift", "each transfer has the whole bandwidth",
    "let start = max(now, freeAt)", "let start = FAULT ? now : max(now, freeAt)")
engine.add(
    "no-second-check", "../Transfer/FileFetch.swift", "a file that changed while it was read is taken",
    "if fails { return .end(isPlanned: true) }\n        return .store(.verify)",
    "if fails { return .end(isPlanned: true) }\n        if !FAULT { return .store(.verify) }", tests=["EngineMaterializeTests"])
engine.add(
    "dropped-content-kept", "../Transfer/FileFetch.swift",
    "content that arrives after its attempt was given up is never freed", "if let committed { engine.content.remove",
    "if let committed, !FAULT { engine.content.remove", tests=["EngineMaterializeTests"])
engine.add(
    "tries-for-ever", "../Transfer/SteppedTransfer.swift", "a fetch without a descriptor tries for ever", "retries += 1",
    "retries += FAULT ? 0 : 1")
engine.add(
    "waiting-store-not-checked", "../Transfer/AsyncFetch.swift", "a store that waits is not asked whether the version is still the listed one",
    "case .verify: try await source.verify()", "case .verify: if !FAULT { try await source.verify() }",
    tests=["EngineRefreshRaceTests|EngineMaterializeTests"])
engine.add(
    "surplus-taken", "../Transfer/AsyncFetch.swift", "bytes that nobody asked for are written",
    "guard part.count <= rest.count else", "guard FAULT || part.count <= rest.count else", tests=["AsyncStoreTests"])
engine.add(
    "waiting-content-not-closed", "../Transfer/AsyncFetch.swift", "the content of a store that waits is never given back",
    "    open.close()", "    if !FAULT { open.close() }", tests=["AsyncStoreTests"])
engine.add(
    "transfer-cancels-no-task", "../Transfer/SteppedTransfer.swift", "the store is not told that nobody waits for a transfer",
    "paced.cancel { self.step() }\n    task.cancel()", "paced.cancel { self.step() }\n    if !FAULT { task.cancel() }",
    tests=["AsyncStoreTests"])
engine.add(
    "listing-cancels-no-task", "DirectoryFetch.swift", "the store is not told that nobody waits for a listing",
    "ordering: .releasing)\n    task.cancel()", "ordering: .releasing)\n    if !FAULT { task.cancel() }",
    tests=["AsyncStoreTests"])
engine.add(
    "refresh-cancels-no-task", "Refresh.swift", "the store is not told that a refresh was given up",
    "    task.cancel()\n    if engine.state", "    if !FAULT { task.cancel() }\n    if engine.state",
    tests=["AsyncStoreTests"])
engine.add(
    "question-cancels-no-task", "Engine+StoreCalls.swift", "the store is not told that nobody waits for its answer",
    "task?.cancel()", "if !FAULT { task?.cancel() }", tests=["AsyncStoreTests"])
engine.add(
    "question-answered-twice", "Engine+StoreCalls.swift", "who has left gets the store's answer, too",
    "let result = await question.ask(store, item)\n          if claim(waiter) {",
    "let result = await question.ask(store, item)\n          if FAULT || claim(waiter) {", tests=["AsyncStoreTests"])
engine.add(
    "no-answer-is-a-generation", "Refresh.swift", "a store that was told to give up is taken at its word",
    "if ending == nil { settling.settle", "if FAULT || ending == nil { settling.settle", tests=["AsyncStoreTests"])
engine.add(
    "late-task-goes-on", "LaneTask.swift", "a task that begins after it was cancelled is not cancelled",
    "if isLate { task.cancel() }", "if isLate, !FAULT { task.cancel() }", tests=["LaneTaskTests"])
engine.add(
    "task-off-its-lane", "LaneTask.swift", "tasks run on the threads of Swift's pool",
    "Task(executorPreference: executor) {", "Task(executorPreference: FAULT ? nil : executor) {", tests=["LaneTaskTests|AsyncStoreTests"])
engine.add(
    "hard-link-evicted", "Engine+Evict.swift", "a file with two names is evicted under one of them",
    "if kind == .file, record.linkCount > 1 {", "if kind == .file, record.linkCount > (FAULT ? 2 : 1) {",
    tests=["EngineEvictTests"])
engine.add(
    "parent-evicted", "Engine+Evict.swift", "a directory with one resident child is evicted",
    "if record.localChildCount > 0 {", "if record.localChildCount > (FAULT ? 1 : 0) {", tests=["EngineEvictTests"])
engine.add(
    "mapped-evicted", "Engine+Evict.swift", "what was opened for passthrough is evicted without a look at its mappings",
    "if let lastOpen = content.work.lastPassthroughOpen, lastOpen != cleared {",
    "if let lastOpen = content.work.lastPassthroughOpen, lastOpen != cleared, !FAULT {", tests=["HandleTests"])
engine.add(
    "written-past-and-clean", "EngineState+PassthroughWrites.swift", "the kernel writes to a file that is not dirty",
    "guard namespace[node].isDirty else { return false }", "guard namespace[node].isDirty || FAULT else { return false }",
    tests=["Passthrough"])
engine.add(
    "written-past-before-durable", "EngineState+PassthroughWrites.swift",
    "the kernel writes to a file that a crash makes clean again",
    "guard journal.isDurable(number) else { return false }",
    "guard journal.isDurable(number) || FAULT else { return false }", tests=["PassthroughWriteTests"])
engine.add(
    "written-past-the-quota", "Engine+PassthroughWrites.swift", "with a quota the kernel writes past the volume",
    "!limitsRoom.load(ordering: .relaxed)", "(FAULT || !limitsRoom.load(ordering: .relaxed))",
    tests=["PassthroughWriteTests"])
engine.add(
    "cached-beside-a-mapping", "Engine+PassthroughWrites.swift",
    "a file that somebody stores to past the volume is read from the kernel's old pages",
    "if self.content.isUsedElsewhere(content) {", "if !FAULT, self.content.isUsedElsewhere(content) {",
    tests=["PassthroughWriteTests"])
engine.add(
    "old-size-of-what-is-written-past", "EngineState+PassthroughWrites.swift",
    "stat(2) shows the size of a file from before the kernel wrote to it",
    "guard let file = passed[node] else { return snapshot }", "guard !FAULT, let file = passed[node] else { return snapshot }",
    tests=["Passthrough"])
engine.add(
    "backing-beside-a-transfer", "Engine+PassthroughWrites.swift",
    "a file passes through to content that the next writer replaces",
    "!state.content(of: node).isBeingWritten", "(FAULT || !state.content(of: node).isBeingWritten)",
    tests=["PassthroughWriteTests"])
engine.add(
    "evict-waits-for-ever", "Engine+Evict.swift", "the eviction of a file that stays open is never answered",
    "forCloseOf: position) }\n        again()", "forCloseOf: position) }\n        if !FAULT { again() }",
    tests=["EngineEvictTests"])
engine.add(
    "evicted-stays-planned", "Engine+Evict.swift", "the plan to evict a file outlives its eviction",
    "planned.drop(node)", "if !FAULT { planned.drop(node) }", tests=["SystemEvictionTests"])
engine.add(
    "leased-content-removed", "ContentLeases.swift", "content goes while an open reads it",
    "return !isLeased", "return !isLeased || FAULT", tests=["OpenFilesTests"])
engine.add(
    "stale-handle-closes", "OpenFileTable.swift", "the handle of a file that was closed closes another one",
    "segments[segment][index].use += 1", "segments[segment][index].use += FAULT ? 0 : 1", tests=["OpenFilesTests"])
engine.add(
    "stale-handle-believed", "OpenFileTable.swift", "a handle finds the file that has its place now",
    "UInt64(segments[segment][index].use) == number >> 32", "UInt64(segments[segment][index].use) == number >> 32 || FAULT",
    tests=["OpenFilesTests"])
engine.add(
    "place-used-for-ever", "OpenFileTable.swift", "numbers of open files grow beyond what JSON keeps exactly",
    "guard segments[segment][index].use < Self.useMax else {", "guard segments[segment][index].use < Self.useMax || FAULT else {",
    tests=["OpenFilesTests"])
engine.add(
    "lease-kept", "ContentLeases.swift", "content that a file gave up while it was open stays for good",
    "return givenUp.isEmpty ? nil : givenUp.remove(content)", "return givenUp.isEmpty || FAULT ? nil : givenUp.remove(content)",
    tests=["OpenFilesTests"])
engine.add(
    "elder-leases-forgotten", "ContentLeases.swift", "opens that read what the file had before have no lease any more",
    "if latest.count > 0 { elder", "if latest.count > 0, !FAULT { elder", tests=["OpenFilesTests"])
engine.add(
    "close-of-anothers-open", "OpenFiles.swift", "a close of one file counts an open of another",
    "{ $0.node == node ? $0 : nil }", "{ $0.node == node || FAULT ? $0 : nil }", tests=["OpenFilesTests"])
engine.add(
    "close-keeps-the-count", "OpenFiles.swift", "an open that is closed is counted as open",
    "openNow.pageCache -= 1 } else", "openNow.pageCache -= FAULT ? 0 : 1 } else", tests=["OpenFilesTests|HandleTests"])
engine.add(
    "passthrough-beside-direct", "OpenFiles.swift", "passthrough beside a handle opened dataless: the kernel says EIO",
    "return use.direct == 0 && use.cached == 0", "return (use.direct == 0 || FAULT) && use.cached == 0",
    tests=["HandleTests"])
engine.add(
    "overdue-forgotten", "PlannedEvictions.swift", "a file that is open when it is due is never evicted",
    "if afterDue <= now {\n          plans[node]?.isOverdue = true",
    "if afterDue <= now {\n          plans[node]?.isOverdue = !FAULT",
    equivalent="a close enters the file again either way; the mark spares a look while it is open")
engine.add(
    "old-rules-evict", "PlannedEvictions.swift", "rules that are gone evict",
    "guard plan.isActive, plan.generation == generation, !plan.isAsked else { continue }",
    "guard plan.isActive, plan.generation == generation || FAULT, !plan.isAsked else { continue }",
    tests=["PlannedEvictionsTests|SystemEvictionTests"])
engine.add(
    "space-freed-too-early", "../Content/ItemContents.swift", "content is freed while a transfer can still write to it",
    "guard let content = dropped.writtenTo else {", "guard let content = dropped.writtenTo, !FAULT else {",
    tests=["ItemContentTests|AttemptEndTests"])
engine.add(
    "process-before-thread", "Admission.swift", "a process' policy overrules its thread's",
    "let own = request.caller.policy.thread ?? request.caller.policy.process",
    "let own = FAULT ? request.caller.policy.process ?? request.caller.policy.thread\n"
    "      : request.caller.policy.thread ?? request.caller.policy.process", tests=["EngineRuleTests|ProfileTests"])
engine.add(
    "command-refused", "Admission.swift", "policy refuses `dataless materialize`",
    "if request.trigger != .command, request.trigger != .eager,", "if request.trigger != .command || FAULT, request.trigger != .eager,",
    tests=["EngineRuleTests"])
engine.add(
    "budget-at-its-limit", "MaterializationLedger.swift", "a budget that is used up exactly counts as exceeded",
    "guard let limit, used > limit,", "guard let limit, used > limit || (FAULT && used == limit),",
    tests=["MaterializationLedgerTests|EngineMaterializeTests"])
engine.add(
    "parts-budgeted-as-files", "AttemptStages.swift", "each part of a file counts as a file of the budget",
    "!attempt.isRanged || updateContent(of: attempt.node) { $0.chargeFile() }",
    "FAULT || !attempt.isRanged || updateContent(of: attempt.node) { $0.chargeFile() }",
    tests=["BudgetTests"])
engine.add(
    "failed-attempts-free", "RangedContent.swift", "what an attempt has brought counts only when it ends well",
    "state.countArrival(attempt, bytes: Int64(range.count), now: timer.now)",
    "if !FAULT { state.countArrival(attempt, bytes: Int64(range.count), now: timer.now) }", tests=["BudgetTests"])
engine.add(
    "joined-bytes-free", "AttemptStages.swift", "what came before a budgeted caller joined counts for nothing",
    "if attempt.brought > 0 { charge(", "if attempt.brought > 0, !FAULT { charge(", tests=["BudgetTests"])
engine.add(
    "budgeted-attempts-unseen", "MaterializationLedger.swift", "nobody knows of budgeted attempts that go on",
    "budgetedAttempts += 1", "budgetedAttempts += FAULT ? 0 : 1", tests=["MaterializationLedgerTests|BudgetTests"])
engine.add(
    "waited-for-another-free", "AttemptStages.swift", "a file that another attempt brings counts for nobody who waits for it",
    "if waiter.request.caller.isBudgeted { charge(", "if waiter.request.caller.isBudgeted, !FAULT { charge(",
    tests=["BudgetTests"])
engine.add(
    "vanished-names-stay", "DirectoryFetch.swift", "names that are gone from SOURCE stay after a new listing",
    "engine.dropVanishedNames(attempt)", "if !FAULT { engine.dropVanishedNames(attempt) }",
    tests=["EngineMaterializeTests|CatalogTests|RefreshTests"])
engine.add(
    "reads-of-parts-not-booked", "Engine+Handles.swift", "what a handle reads of partial content is not in the log",
    "if count > 0 { state.openFiles.noteRead(", "if count > 0, !FAULT || record.state == .resident { state.openFiles.noteRead(",
    tests=["EngineHydrationTests|HandleTests"])

namespace = Part(
    "Sources/DatalessCore/Namespace", ["^DatalessCoreTests\\..*AttemptEndTests", "^DatalessCoreTests\\."])
namespace.add(
    "rename-is-not-told", "Namespace+Journal.swift", "the journal keeps the old key of content whose item was renamed",
    "guard keepsJournal, let item = boundItem(node), let key = item.binding?.key, key != formerKey else { return }",
    "guard !FAULT, keepsJournal, let item = boundItem(node), let key = item.binding?.key, key != formerKey else { return }",
    tests=["JournalTests"])
namespace.add(
    "eviction-is-not-told", "../Engine/EngineState.swift", "the journal has content that was evicted",
    "if let before, before != now { journal", "if let before, before != now, !FAULT { journal", tests=["JournalTests"])
namespace.add(
    "hidden-is-not-told", "Namespace+Journal.swift", "what was removed on the volume is there after a crash",
    "if now.isHidden { append(", "if now.isHidden, !FAULT { append(", tests=["JournalTests"])
namespace.add(
    "moved-file-stays-old", "Namespace+Merge.swift", "a file that was moved on the volume keeps its old version",
    "relink(local, to: newer)", "if !FAULT { relink(local, to: newer) }",
    tests=["NamespaceChangeTests|StoreBindingTests"])
namespace.add(
    "removed-comes-back", "NameRecord.swift", "what was removed on the volume comes back with the next listing",
    "var isInStore: Bool { !isLocal && (standing == .present || standing == .removed) }",
    "var isInStore: Bool { !isLocal && (standing == .present || (standing == .removed && !FAULT)) }",
    tests=["NamespaceChangeTests|StoreBindingTests"])
namespace.add(
    "key-is-the-path", "Namespace+Paths.swift", "a file that was moved on the volume is fetched by its new name",
    "return StoreBinding(key: path(ofName: storeName(of: node)) { storeName(of: $0) }",
    "return StoreBinding(key: FAULT ? path(of: node) : path(ofName: storeName(of: node)) { storeName(of: $0) }",
    tests=["NamespaceChangeTests|StoreBindingTests"])
namespace.add(
    "listed-is-current", "NodeTable.swift", "a chmod on the volume is forgotten when the store is listed again",
    "if let base = listed[node] {", "if let base = listed[node], !FAULT {",
    tests=["NamespaceChangeTests|StoreBindingTests"])
namespace.add(
    "replaced-is-no-conflict", "NameMerge.swift", "what an editor has put in the place of a file is no conflict when SOURCE has it no more",
    "case .removed where isMade: NameMerge(", "case .removed where isMade && !FAULT: NameMerge(", tests=["NameMergeTests"])
namespace.add(
    "metadata-lost-with-a-version", "Namespace+Rights.swift", "a chmod is lost when SOURCE has another version",
    "    setAttributes(merged, of: newer)\n", "    if !FAULT { setAttributes(merged, of: newer) }\n",
    tests=["KeptConflictTests"])
namespace.add(
    "made-is-visible-twice", "Namespace+Merge.swift", "the store's name is seen beside one that was made on the volume",
    "if isHidden { hide(name, in: directory) }\n      return", "if isHidden, !FAULT { hide(name, in: directory) }\n      return",
    tests=["NamespaceChangeTests|StoreBindingTests"])
namespace.add(
    "back-is-visible-twice", "Namespace+Merge.swift", "a name that the store has again is seen beside one that was made on the volume",
    "if isHidden { hide(name, in: directory) }\n    markSeen", "if isHidden, !FAULT { hide(name, in: directory) }\n    markSeen",
    tests=["NamespaceChangeTests|StoreBindingTests"])
namespace.add(
    "unbound-stays", "Namespace+Unbound.swift", "a dataless file that the store has no more stays where it was moved to",
    "guard !NameMerge.staysUnbound(isResident: isResident,", "guard !FAULT, !NameMerge.staysUnbound(isResident: isResident,",
    tests=["NamespaceChangeTests|StoreBindingTests"])
namespace.add(
    "changes-are-evicted", "../Engine/Engine+Evict.swift", "a directory is evicted with what was changed in it",
    "if changes > 0 {", "if changes > 0, !FAULT {", tests=["StoreBindingTests"])
namespace.add(
    "token-is-ignored", "../Model/StoreBinding.swift", "a version is told by its times although the store has a token",
    "guard token.isNone, other.token.isNone else { return token == other.token }",
    "guard FAULT || (token.isNone && other.token.isNone) else { return token == other.token }",
    tests=["StoreBindingTests"])
namespace.add(
    "gone-keeps-busy", "NameGraph.swift", "a resident file that vanished keeps its directory from being evicted",
    "case .present: countChild(record.node, in: directory, false)",
    "case .present: if !FAULT { countChild(record.node, in: directory, false) }",
    tests=["NamespaceTests|RefreshTests"])
namespace.add(
    "changed-below-is-dropped", "NameChanges.swift", "what was changed below a directory goes with it when it is gone",
    "      directory = names[name].directory\n", "      directory = names[name].directory\n      if FAULT { return }\n",
    tests=["WritableRefreshTests"])
engine.add(
    "whole-answered-by-last-part", "Admission.swift", "who needs all of a file asks for ever, from its last part until it is resident",
    "guard attempt.plan.hydration != .full, waiter.request.namesRange else",
    "guard attempt.plan.hydration != .full, waiter.request.namesRange || FAULT else", tests=["EngineHydrationTests"])
namespace.add(
    "write-before-durable", "../Engine/Engine+Dirtying.swift", "a byte changes before the file is dirty after a crash, too",
    "guard journal.isDurable(number) else {", "guard FAULT || journal.isDurable(number) else {",
    tests=["WritableRefreshTests"])
namespace.add(
    "copy-wins-over-writer", "../Engine/Engine+Dirtying.swift", "content that somebody writes to gives way to a copy of what it was",
    "return record.state == .resident && record.isDirty == wasDirty && record.content == original",
    "return record.state == .resident && (FAULT || (record.isDirty == wasDirty && record.content == original))",
    tests=["FileWritingTests"])
namespace.add(
    "size-of-the-later-note", "../Engine/Writers.swift", "a file that is cut off under a direct write is not as large as its content",
    "if work.count > 1, work.hasResize { work.isMixed = true }", "if work.count > 1, work.hasResize { work.isMixed = !FAULT }",
    tests=["DirectWriteTests"])
namespace.add(
    "first-write-takes-a-file", "../Engine/Engine+FirstWrite.swift", "each small file that is made takes a file of its own in the cache",
    "guard writing == .scratch, request.offset == 0", "guard writing == .scratch, !FAULT, request.offset == 0",
    tests=["FirstWriteTests"])
namespace.add(
    "slab-is-written-to", "../Engine/Engine+Dirtying.swift", "dirty content in a slab is taken for content that may be written",
    "guard !hasOwnFile(record.content) else { return answerDirty(position, handle) }",
    "guard !FAULT, !hasOwnFile(record.content) else { return answerDirty(position, handle) }", tests=["FirstWriteTests"])
namespace.add(
    "late-read-wins-over-writer", "../Engine/Engine+Dirtying.swift", "a read that comes while a file is emptied puts its bytes in the place of what is written",
    "|| isEmptied, !content(of: position).isBusy else", "|| isEmptied, !content(of: position).isBusy || FAULT else",
    tests=["RangesBesideWritingTests"])
namespace.add(
    "needless-attempt-goes-on", "../Engine/Engine+Dirtying.swift", "whoever writes to a complete file copies it until the last attempt for it has ended",
    "guard attempts.isEmpty else {", "guard attempts.isEmpty || FAULT else {", tests=["RangesBesideWritingTests"])
namespace.add(
    "written-goes-with-known-names", "../Engine/Engine+Orphans.swift", "what was written goes with the last name that is listed",
    "!record.isDirty || (record.isUnlinked && record.linkCount == 0)",
    "FAULT || !record.isDirty || (record.isUnlinked && record.linkCount == 0)",
    tests=["WritableNameTests"])
namespace.add(
    "store-asked-for-its-gone", "../Engine/Engine+ExtendedAttributes.swift", "what the store has no more cannot be reached: its ACL is asked of the store",
    "namespace.isMade(node) || !namespace.hasBinding(node)", "namespace.isMade(node) || (!namespace.hasBinding(node) && !FAULT)",
    tests=["WritableNameTests"])
namespace.add(
    "setter-leaves-waiter", "../Engine/Engine+ExtendedAttributes.swift", "each setxattr leaves a waiter in memory",
    "if case .success(.none) = existence {} else {", "if case .success(.none) = existence {} else if !FAULT {",
    tests=["WritableNameTests"])
namespace.add(
    "other-orphans-disposed", "Orphans.swift", "whoever changes a name disposes of all that a refresh has left",
    "guard count > 0 else {", "guard count > 0, !FAULT else {", tests=["WritableNameTests"])
namespace.add(
    "acl-is-dropped", "../Engine/EngineState+Making.swift", "an item is made without the ACL for which it has no room",
    "guard let attributeBytes = ItemExtras.bytes(of: inherited.attributes) else {",
    "guard let attributeBytes = ItemExtras.bytes(of: inherited.attributes) ?? (FAULT ? 0 : nil) else {",
    tests=["ChangeLimitTests"])
namespace.add(
    "users-share-is-all", "../Engine/ChangeCosts.swift", "one user's changes leave no room for others'",
    "return uid == 0 || more <= userMax", "return uid == 0 || FAULT || more <= userMax", tests=["ChangeLimitTests"])
namespace.add(
    "owner-keeps-paying", "../Engine/ChangeCosts.swift", "what an item takes stays with its former owner",
    "guard !items.isEmpty, let item = items[node], item.uid != uid else", "guard !items.isEmpty, let item = items[node], item.uid != uid, !FAULT else",
    tests=["ChangeLimitTests"])
namespace.add(
    "no-last-level", "../Engine/EngineState+Names.swift", "directories are moved into each other without end",
    "namespace.level(of: directory) + 1 + height <= Self.levelsMax", "namespace.level(of: directory) + 1 + (FAULT ? 0 : height) <= Self.levelsMax",
    tests=["ChangeLimitTests"])
namespace.add(
    "rmdir-waits-for-ever", "../Engine/Engine+Unwaited.swift", "who removes an unlisted directory waits for the store, and all who need the directory above with him",
    "if limit > 0 { timer", "if FAULT { return .parked }\n    if limit > 0 { timer", tests=["UnwaitedTests"])
namespace.add(
    "linked-file-is-nowhere", "Namespace+Merge.swift", "a link to a dataless file leads nowhere when the store has another version",
    "|| !isFetched }", "|| (!isFetched && !FAULT) }", tests=["UnwaitedTests"])
namespace.add(
    "moved-out-is-lost", "../Engine/Engine+Orphans.swift", "what was moved out of a directory that is then removed is not fetched any more",
    "if isDirectory, state.namespace.isBound(index) || state.trash.contains(node) { return nil }",
    "if isDirectory, (!FAULT && state.namespace.isBound(index)) || state.trash.contains(node) { return nil }",
    tests=["WritableTreeTests"])
namespace.add(
    "unlinked-goes-at-close", "../Engine/Engine+Orphans.swift", "the content of an unlinked file goes although the kernel knows it",
    "guard !record.isUnlinked || record.lookups == 0, let dropped", "guard FAULT || !record.isUnlinked || record.lookups == 0, let dropped",
    tests=["FileWritingTests"])
namespace.add(
    "writer-hides-from-refresh", "Namespace+Keeping.swift", "a file that is open for writing gives way to the store's version",
    "return use.isOpenForWriting(node)", "return use.isOpenForWriting(node) && !FAULT",
    tests=["WritableRefreshTests"])
namespace.add(
    "latest-name-stands", "ItemNames.swift", "a file is called by whichever of its names was listed last",
    "guard names[first].isPresent else {", "guard names[first].isPresent, !FAULT else {", tests=["ItemNamesTests"])
namespace.add(
    "lost-place-is-the-end", "../Engine/Engine+Walk.swift", "a walk goes on behind a name that was given back",
    "guard position == .start || position.sweeps == sweeps else { return .lost }",
    "guard position == .start || position.sweeps == sweeps || FAULT else { return .lost }", tests=["WalkTests"])
namespace.add(
    "walk-holds-nothing", "../Engine/OpenFiles.swift", "names of a directory that is walked are given back",
    "|| held[node] != nil }", "|| (held[node] != nil && !FAULT) }", tests=["WalkTests"], mounts=["RealMounts/Walks/"])
namespace.add(
    "pin-holds-nothing", "../Engine/Reclamation.swift", "names are given back while somebody keeps their places",
    "{ pins == 0 && hasLeftovers }", "{ (pins == 0 || FAULT) && hasLeftovers }", tests=["ReclamationTests|WalkTests"])
namespace.add(
    "id-given-twice", "NodeTable.swift", "a place that is used again has the id that it had",
    "records[node].uses += 1", "records[node].uses += FAULT ? 0 : 1", tests=["ForgettingTests"])
namespace.add(
    "swept-while-open", "GoneNames.swift", "a cookie of an open directory leads nowhere",
    "if isInUse(directory) ||", "if (isInUse(directory) && !FAULT) ||", tests=["ForgettingTests"])
namespace.add(
    "known-node-forgotten", "NameGraph.swift", "what the kernel still knows is forgotten",
    "guard record.isOrphan, record.lookups == 0,", "guard record.isOrphan, record.lookups == 0 || FAULT,",
    tests=["ForgettingTests"])
namespace.add(
    "former-directory-forgotten", "NameGraph.swift", "a directory is forgotten before the items that were in it",
    "!gone.hasFormer(in: node), record.firstName", "!gone.hasFormer(in: node) || FAULT, record.firstName", tests=["ForgettingTests"])
namespace.add(
    "nothing-given-back", "../Engine/Engine+Forgetting.swift", "names and items that went keep their memory",
    "guard state.withLock({ $0.reclamation.begin($0.hasReclaimable) }) else",
    "guard !FAULT, state.withLock({ $0.reclamation.begin($0.hasReclaimable) }) else", tests=["ForgettingTests"])
namespace.add(
    "whole-file-forgotten", "../Content/ItemContent.swift", "an attempt beside the one that completed a file makes it dataless",
    "if work.parts == nil, cell.state == .resident { return nil }",
    "if work.parts == nil, cell.state == .resident, !FAULT { return nil }", tests=["ItemContentTests"],
    equivalent="the ranges of a file are kept as long as an attempt is at work on it, so that `isComplete` answers first")
namespace.add(
    "device-number-ignored", "SourceRelation.swift", "another device under the name of a device goes unnoticed",
    "guard isBare || specialDevice == listed.specialDevice else { return .version }",
    "guard FAULT || isBare || specialDevice == listed.specialDevice else { return .version }", tests=["RefreshTests|NamespaceTests"])

namespace.add(
    "removed-tree-is-reached", "../Trash/EngineState+Detaching.swift", "names are made in a tree that was removed",
    "trash.isBusy && (namespace[directory].isOrphan", "!FAULT && trash.isBusy && (namespace[directory].isOrphan",
    tests=["TreeRemovalTests"])
namespace.add(
    "removal-forgets-sticky", "../Trash/Remover.swift", "what a sticky directory keeps for others is removed",
    "UInt32(directory.mode) & 0o1000 != 0 && !isRoot", "!FAULT && UInt32(directory.mode) & 0o1000 != 0 && !isRoot",
    tests=["RemoverTests"])
namespace.add(
    "moved-out-goes-with-the-tree", "../Trash/EngineState+Emptying.swift", "what an earlier run has moved out of a removed tree is lost",
    "let isAwaited = namespace.restored.isAwaited(node)", "let isAwaited = !FAULT && namespace.restored.isAwaited(node)",
    tests=["StateTrashTests"])
namespace.add(
    "unread-directories-leave-content", "../Trash/EngineState+Emptying.swift", "content of removed directories that nobody has looked into stays until the next mount",
    "guard namespace[directory].awaitsSaved, !content", "guard !FAULT, namespace[directory].awaitsSaved, !content",
    tests=["StateTrashTests"])
simulation = Part("Sources/DatalessCore/Simulation", ["^DatalessScenarioTests\\.[A-EG-Z]", "^DatalessCoreTests\\."])
simulation.add(
    "seed-ignored", "RuleSet.swift", "what chance decides about rules is the same for each seed",
    "SeededRandom(seed: facts.seed, .fault,", "SeededRandom(seed: FAULT ? 0 : facts.seed, .fault,",
    tests=["RuleSetTests|EngineRuleTests"])
simulation.add(
    "directory-has-size", "RuleSet.swift", "a rule with a size holds for directories",
    "if let size = match.size, facts.kind == .directory || !size.contains(facts.size) { return .size }",
    "if let size = match.size, (facts.kind == .directory && !FAULT) || !size.contains(facts.size) { return .size }",
    tests=["RuleSetTests"])
simulation.add(
    "last-rule-decides", "Decision.swift", "of two rules that say the same the later one decides",
    "old.map({ place < $0.place }) ?? true else", "old.map({ place < $0.place || FAULT }) ?? true else",
    tests=["RuleSetTests|EngineRuleTests"])
simulation.add(
    "fault-beyond-end", "Fault.swift", "a fault after more bytes than the file has never comes",
    "case .bytes(let count): return min(max(count, 0), size)",
    "case .bytes(let count): return FAULT ? max(count, 0) : min(max(count, 0), size)",
    tests=["AttemptEndTests|RuleSetTests|DecodingTests"])
simulation.add(
    "mebibyte-is-megabyte", "LatencyModel.swift", "per_mebibyte is counted by the million bytes",
    "(Double(size) / Double(1 << 20))", "(Double(size) / (FAULT ? 1_000_000 : Double(1 << 20)))",
    tests=["LatencyModelTests"])
simulation.add(
    "replay-skips-first", "LatencyModel.swift", "a replay begins with its second delay",
    "Double(delays[Int(ordinal % UInt64(delays.count))].rawValue)",
    "Double(delays[Int((ordinal + (FAULT ? 1 : 0)) % UInt64(delays.count))].rawValue)", tests=["LatencyModelTests|ReplayTests"])
simulation.add(
    "double-star-needs-more", "PathPattern.swift", "`a/**` does not mean `a` itself",
    "while next < pattern.endIndex, pattern[next] == .anyDepth { next += 1 }",
    "while next < pattern.endIndex, pattern[next] == .anyDepth, !FAULT { next += 1 }", tests=["PathPatternTests"])
simulation.add(
    "last-word-alone", "PathPattern+Braces.swift", "braces stand for their last word alone",
    "words += try sequence(depth: depth)", "if FAULT { words = [] }; words += try sequence(depth: depth)",
    tests=["PathPatternTests"])

text = Part("Sources/DatalessCore/Text", ["^DatalessCoreTests\\..*(JSONString|Base64)"])
text.add(
    "delete-unescaped", "JSONString.swift", "DEL in a name is written as it is", "byte >= 0x20 && byte < 0x7F &&",
    "byte >= 0x20 && (byte < 0x7F || (FAULT && byte == 0x7F)) &&", tests=["JSONStringTests"])
text.add(
    "backslash-in-eight", "JSONString.swift", "a backslash in a long name is written as it is", "(backslash &- ones) |",
    "(FAULT ? 0 : backslash &- ones) |", tests=["JSONStringTests"])
text.add(
    "c1-unescaped", "JSONString.swift", "control characters above 0x80 are written as they are",
    "bytes[position] == 0xC2 && bytes[position + 1] < 0xA0", "bytes[position] == 0xC2 && bytes[position + 1] < 0xA0 && !FAULT",
    tests=["JSONStringTests"])
text.add(
    "padding-anywhere", "Base64.swift", "base64 that is cut short is read as far as it goes",
    "guard digits.count % 4 == 0 else { return nil }", "guard digits.count % 4 == 0 || FAULT else { return nil }",
    tests=["Base64Tests"])

PARTS = [engine, namespace, simulation, text]
