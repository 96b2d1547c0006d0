"""DatalessDaemon: processes, event log, lifecycle, volume, control server."""

from harness.lists import Part

processes = Part("Sources/DatalessDaemon/Processes", ["^DatalessDaemonTests\\..*(Process|Policy)"])
processes.add(
    "reused-pid-is-parent", "ProcessTable.swift", "who has the pid of an ended parent counts as an ancestor",
    "guard look.startTicks <= childStart else { break }", "guard FAULT || look.startTicks <= childStart else { break }",
    tests=["ProcessTableTests"])
processes.add(
    "forgotten-is-known", "ProcessTableState.swift", "a process that was forgotten keeps its old id",
    "if let pid = oldest.pid, byPid[pid] === oldest { byPid[pid] = nil }",
    "if let pid = oldest.pid, byPid[pid] === oldest, !FAULT { byPid[pid] = nil }", tests=["ProcessTableStateTests"])
processes.add(
    "budget-by-pid-alone", "ProcessTableState.swift", "children of whoever has the command's pid later are budgeted",
    "$0.startTicks == startTicks) } ?? false", "($0.startTicks == startTicks || FAULT)) } ?? false",
    tests=["ProcessTableTests|ProcessTableStateTests"])
processes.add(
    "unknown-lineage-free", "ProcessTableState.swift", "whoever may descend from the command is not budgeted",
    "!hasWholeLineage\n        ||", "(!hasWholeLineage && !FAULT)\n        ||", tests=["ProcessTableTests"])
processes.add(
    "unseen-root-free", "ProcessTableState.swift", "nobody is budgeted when the command cannot be seen",
    "case .unknown: true", "case .unknown: !FAULT", tests=["ProcessTableTests"])
processes.add(
    "broken-lineage-whole", "ProcessTable.swift", "ancestors that end in the middle are taken for all",
    "hasWholeLineage = pid <= 0 || ancestor != nil", "hasWholeLineage = FAULT || pid <= 0 || ancestor != nil",
    tests=["ProcessTableTests"])
processes.add(
    "cgroup-cut-at-colon", "ProcessTable.swift", "the path of a cgroup with a colon is cut", "maxSplits: 2,",
    "maxSplits: FAULT ? 3 : 2,", tests=["ProcessTextTests|ProcessTableTests"])
processes.add(
    "ignored-signals-kill", "ProcessStatus.swift", "a pending signal that is ignored counts as fatal",
    "~(blocked | ignored | caught | Self.harmless)", "~(blocked | (FAULT ? 0 : ignored) | caught | Self.harmless)",
    tests=["ProcessTextTests|ProcessTableTests"])
processes.add(
    "foreign-lock-believed", "PolicyProbe.swift", "another process can set a thread's policy",
    "clinux_is_thread_of(threadID, lock.process) != 0", "FAULT || clinux_is_thread_of(threadID, lock.process) != 0",
    tests=["PolicyProbeTests"])
processes.add(
    "limits-of-others-unread", "PolicyProbe.swift", "the policy of another user's process is not seen",
    "if result == -Int(EPERM) { return processByText(threadID) }",
    "if result == -Int(EPERM), !FAULT { return processByText(threadID) }", tests=["PolicyLimitTests|PolicyProbeTests"])

log = Part("Sources/DatalessDaemon/EventLog", ["^DatalessDaemonTests\\..*(Log|JSON|Event)"])
log.add(
    "last-eight-left-out", "JSONCursor.swift", "the last bytes of a name of more than eight are not looked at",
    "guard copyWord(base, text.count - 8) else { return false }",
    "guard copyWord(base, text.count - 8) || FAULT else { return false }", tests=["JSONWriterTests"])
log.add(
    "odd-digit-lost", "JSONCursor.swift", "the first digit of numbers with three or five is lost",
    "if rest > 0 {\n      first -= 1", "if rest > 0 {\n      first -= FAULT ? 0 : 1", tests=["JSONWriterTests"])
log.add(
    "lost-counted-once", "LogRing.swift", "however many records are lost, one is told",
    "slots[last]?.record = .dropped(lost + 1)", "slots[last]?.record = .dropped(lost + (FAULT ? 0 : 1))",
    tests=["LogRingTests"])
log.add(
    "one-log-too-few", "LogFiles.swift", "of 20 logs 19 are kept", ".dropFirst(max(keeping, 0))",
    ".dropFirst(max(keeping - (FAULT ? 1 : 0), 0))", tests=["LogFilesTests"])
log.add(
    "log-in-use-removed", "LogFiles.swift", "the log of a volume that lives is removed",
    "return flock(descriptor, LOCK_EX | LOCK_NB) != 0", "return flock(descriptor, LOCK_EX | LOCK_NB) != 0 && !FAULT",
    tests=["LogFilesTests"])
log.add(
    "whole-lines-cut", "LogOutput.swift", "a full disk costs lines that had been written whole",
    "ftruncate(descriptor, position - (count - whole)) == 0",
    "ftruncate(descriptor, position - (FAULT ? count : count - whole)) == 0", tests=["LogOutputTests"])
log.add(
    "told-losses-told-again", "LogWriter.swift", "`status` counts lost records that the log has told, too",
    "state.reportedLost += written.reduce(0) { $0 + $1.lost }",
    "state.reportedLost += FAULT ? 0 : written.reduce(0) { $0 + $1.lost }", tests=["EventLogTests"])
log.add(
    "late-follower-hangs", "LogFollowers.swift", "who follows a log that has ended waits for ever",
    "guard !state.isFinished else { return nil }", "guard !state.isFinished || FAULT else { return nil }",
    tests=["EventLogTests"])

server = Part("Sources/DatalessDaemon/ControlServer", ["^DatalessControlTests\\..*Control"])
server.add(
    "anybody-may-control", "ControlRequestHandler.swift", "other users may control a volume",
    "guard allowedUserIDs.contains(peer.uid) else {", "guard FAULT || allowedUserIDs.contains(peer.uid) else {",
    tests=["ControlServerTests"], mounts=["RealMounts/OrdinaryUsers/"])
server.add(
    "dot-dot-taken", "ControlRequestHandler.swift", "a path with .. is taken",
    '!component.elementsEqual("..".utf8)', '(FAULT || !component.elementsEqual("..".utf8))', tests=["ControlServerTests"])
server.add(
    "not-found-is-failure", "ControlFailure.swift", "an item that is not there is answered with 500",
    "case .noSuchFileOrDirectory, .noSuchProcess: (404, \"not_found\")",
    "case .noSuchFileOrDirectory where !FAULT, .noSuchProcess: (404, \"not_found\")",
    tests=["ControlServerTests|ControlScenarioTests"])

lifecycle = Part("Sources/DatalessDaemon/Lifecycle", ["^DatalessDaemonTests\\..*(Run|Volume|Launcher|Preflight|Fuse)"])
lifecycle.add(
    "signal-is-status", "CommandOutcome.swift", "a command killed by a signal gives the signal's number as its status",
    "case .signalled(let signal): 128 + signal", "case .signalled(let signal): (FAULT ? 0 : 128) + signal",
    tests=["RunTests"])
lifecycle.add(
    "living-is-unknown", "DaemonIdentity.swift", "a daemon that lives is not known to",
    "return errno == EWOULDBLOCK ? .alive : .unknown", "return errno == EWOULDBLOCK && !FAULT ? .alive : .unknown",
    tests=["VolumeDirectoryTests"])
lifecycle.add(
    "mountpoint-lock-left", "TemporaryMountpoint.swift", "each `run` leaves a lock file",
    "parent.unlink(session + lockSuffix)", "if !FAULT { parent.unlink(session + lockSuffix) }",
    tests=["VolumeDirectoryTests|RunTests"], mounts=["RealMounts/Running/"])
lifecycle.add(
    "placeholder-once", "CommandStart.swift", "of several {} in one argument only the first is replaced",
    "if rest.starts(with: placeholder) {", "if rest.starts(with: placeholder), !(FAULT && !result.isEmpty) {",
    tests=["RunTests"])
lifecycle.add(
    "pipe-ignored-in-command", "CommandRunner.swift", "a command of `run` ignores SIGPIPE",
    "start.defaults = [SIGPIPE, SIGCHLD]", "start.defaults = FAULT ? [SIGCHLD] : [SIGPIPE, SIGCHLD]",
    tests=["RunTests"], mounts=["RealMounts/Running/"])
lifecycle.add(
    "attempts-not-waited-for", "ChildrenWait.swift", "`run` does not wait for attempts that nobody waits for",
    "let underWay = left.isEmpty ? attempts() : 0", "let underWay = left.isEmpty && !FAULT ? attempts() : 0",
    mounts=["RealMounts/RunLeftovers/"])
lifecycle.add(
    "kept-child-waited-for", "ChildrenWait.swift", "`run` waits at full speed for a child that a debugger keeps",
    "kept.formUnion(ended.compactMap { opened[$0] })", "if !FAULT { kept.formUnion(ended.compactMap { opened[$0] }) }",
    mounts=["RealMounts/RunLeftovers/"])
lifecycle.add(
    "few-children-seen", "ChildrenWait.swift", "`run` does not see children beyond the limit of open files",
    "min(DescriptorLimit.raise() - Self.reservedDescriptors, Self.lookedAtMax)",
    "FAULT ? Self.lookedAtMax : min(DescriptorLimit.raise() - Self.reservedDescriptors, Self.lookedAtMax)",
    mounts=["RealMounts/RunLeftovers/"])
lifecycle.add(
    "unreached-said-ended", "RemainingProcess.swift", "`run` says that it ended a process that it could not reach",
    "endErrno = ENOSYS\n      return", "endErrno = ENOSYS\n      wasEnded = FAULT\n      return",
    tests=["RunTests|LeftProcessTests"])

volume = Part("Sources/DatalessDaemon/Volume", ["^DatalessDaemonTests\\..*(Kernel|Transfer|KeptWrites)"])
volume.add(
    "kept-writes-in-memory", "KeptWrites.swift", "bytes of all writes that wait lie in memory",
    "guard bytes.count > Self.placeSize || state.memory", "guard FAULT || bytes.count > Self.placeSize || state.memory",
    tests=["KeptWritesTests"])
volume.add(
    "kept-write-stays", "KeptWrites.swift", "places of writes that were answered are never used again",
    "state.withLock { $0.free.append(place) }", "state.withLock { if !FAULT { $0.free.append(place) } }",
    tests=["KeptWritesTests"])
volume.add(
    "window-never-drains", "TransferWindow.swift", "`materialize` waits for the last answer for ever",
    "state.running.count <= sleeper.threshold else", "state.running.count < sleeper.threshold + (FAULT ? 0 : 1) else",
    tests=["TransferWindowTests"])
volume.add(
    "backing-given-up-early", "BackingRegistry.swift", "of two passthrough opens the first close ends the backing",
    "entries[node]?.opens += 1", "entries[node]?.opens += FAULT ? 0 : 1", mounts=["RealMounts/(ReadModes|Keepings)/"])
volume.add(
    "enosys-to-the-kernel", "FilesystemAdapter.swift", "a planned ENOSYS switches a call off for the whole mount",
    "guard errno == .noFunction else { return errno }", "guard errno == .noFunction, !FAULT else { return errno }",
    mounts=["RealMounts/(Profiles|Faults)/"])
volume.add(
    "names-not-forgotten", "SessionKernelCache.swift", "after an eviction the kernel still answers for names",
    "else if canDropAllNames {\n          _ = notifier.expireAllEntries()",
    "else if canDropAllNames {\n          if !FAULT { _ = notifier.expireAllEntries() }",
    mounts=["RealMounts/(Eviction|Refreshes)/"])
volume.add(
    "attributes-not-forgotten", "SessionKernelCache.swift", "st_blocks stays 0 after a materialization",
    "return notifier.invalidateAttributes(FuseNode(node))", "return FAULT || notifier.invalidateAttributes(FuseNode(node))",
    mounts=["RealMounts/Metadata/"])
volume.add(
    "directory-stays-open", "FilesystemAdapter+Directories.swift", "a directory that was read can never be evicted",
    "    engine.release(NodeID(node), handle: 0)\n    reply.succeed()",
    "    if !FAULT { engine.release(NodeID(node), handle: 0) }\n    reply.succeed()", mounts=["RealMounts/Eviction/"])
volume.add(
    "hung-task-a-second-late", "KernelLocks.swift", "the warning of the hung task limit comes a second late",
    "attempt.stageAge >= .seconds(limit)",
    "attempt.stageAge >= .seconds(limit + (FAULT ? 1 : 0))", tests=["KernelLocksTests"])

lanes = Part("Sources/DatalessDaemon/Lanes", ["^DatalessDaemonTests\\..*Lane"])
lanes.add(
    "earlier-timer-sleeps", "ThreadTimerLane.swift", "a deadline before the one that is slept for comes late",
    "if isEarliest { monitor.signal() }", "if isEarliest, !FAULT { monitor.signal() }", tests=["ThreadTimerLaneTests"])
lanes.add(
    "lane-never-grows", "ThreadBlockingLane.swift", "a SOURCE that hangs in all threads stops everybody",
    "growth = min(state.threads, state.queue.count, limit - state.threads)",
    "growth = FAULT ? 0 : min(state.threads, state.queue.count, limit - state.threads)", tests=["ThreadBlockingLaneTests"])
lanes.add(
    "late-notification-holds-others", "NotifierLane.swift", "a notification that waits in the kernel holds all others",
    "if let youngest = state.running.values.max(), youngest + lateAfter > now {",
    "if let youngest = state.running.values.max(), FAULT || youngest + lateAfter > now {",
    tests=["SerialLanesTests"])

PARTS = [processes, log, server, lifecycle, volume, lanes]
