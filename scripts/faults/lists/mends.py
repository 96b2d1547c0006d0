"""What a review found and was mended, each mend undone: hostile users and directories, wrong bytes, hangs, misleading reports."""

from harness.lists import Part

ADVERSARIES = ["RealMounts/Adversaries/"]

# ---- What another user, or a hostile directory, can do -------------------------------------------------------------

paths = Part("Sources/DatalessControl", ["^DatalessDaemonTests\\..*(TrustedDirectory|VolumeDirectory)"], ADVERSARIES)
paths.add(
    "foreign-directory-used", "Paths/TrustedDirectory.swift", "a runtime directory that another user made is used",
    "guard facts.owner == owner else { throw UntrustedPath(path, .owner(facts.owner)) }\n    guard facts.mode",
    "guard FAULT || facts.owner == owner else { throw UntrustedPath(path, .owner(facts.owner)) }\n    guard facts.mode")
paths.add(
    "open-ancestors-trusted", "Paths/TrustedDirectory+Walk.swift", "a directory below one that all can write to is used",
    "guard !facts.isOpenToAll else {", "guard FAULT || !facts.isOpenToAll else {")
paths.add(
    "foreign-link-followed", "Paths/TrustedDirectory+Walk.swift", "a symbolic link that another user made is followed",
    "guard linkMakers.contains(next.facts.owner), links", "guard FAULT || linkMakers.contains(next.facts.owner), links")
paths.add(
    "file-of-another-read", "Paths/TrustedDirectory.swift", "a record that is another user's is read",
    "guard facts.owner == owner else { throw UntrustedPath(PathBytes.join(path, name), .owner(facts.owner)) }",
    "guard FAULT || facts.owner == owner else { throw UntrustedPath(PathBytes.join(path, name), .owner(facts.owner)) }")
paths.add(
    "links-below-followed", "Paths/TrustedDirectory.swift", "a link swapped in for a file leads elsewhere",
    "let all = flags | CLINUX_O_NOFOLLOW\n"
    "    let resolve = CLINUX_RESOLVE_BENEATH | CLINUX_RESOLVE_NO_SYMLINKS | CLINUX_RESOLVE_NO_XDEV",
    "let all = flags | (FAULT ? 0 : CLINUX_O_NOFOLLOW)\n"
    "    let resolve = FAULT ? 0 : CLINUX_RESOLVE_BENEATH | CLINUX_RESOLVE_NO_SYMLINKS | CLINUX_RESOLVE_NO_XDEV")
paths.add(
    "pipe-waited-for", "Paths/TrustedDirectory.swift", "a pipe in the place of a record stops whoever opens it",
    "UInt64(UInt32(bitPattern: all)), flags & O_CREAT", "UInt64(UInt32(bitPattern: FAULT ? all & ~CLINUX_O_NONBLOCK : all)), flags & O_CREAT")
paths.add(
    "pipe-is-a-file", "Paths/TrustedDirectory.swift", "what is no regular file is read",
    "guard facts.mode & S_IFMT == S_IFREG else {", "guard FAULT || facts.mode & S_IFMT == S_IFREG else {")
paths.add(
    "removed-lock-held", "Paths/TrustedDirectory.swift", "a lock on a file that was removed counts as the lock",
    "&& held.st_dev == named.st_dev && held.st_ino == named.st_ino",
    "&& held.st_dev == named.st_dev && (held.st_ino == named.st_ino || FAULT)")
paths.add(
    "record-without-end", "Paths/TrustedDirectory.swift", "a record of another user's may have any size",
    "guard bytes.count <= limit else {", "guard FAULT || bytes.count <= limit else {")

mounted = Part("Sources", [], ADVERSARIES)
mounted.add(
    "record-steers-deletion", "DatalessDaemon/Lifecycle/StaleSessions.swift", "a record names a directory to be emptied",
    "PathBytes.lastComponent(record.cacheBytes) == Array(record.session.utf8)",
    "FAULT || PathBytes.lastComponent(record.cacheBytes) == Array(record.session.utf8)")
mounted.add(
    "foreign-cache-used", "DatalessStores/Content/CacheDirectory.swift", "another user's directory is the cache",
    "guard status.uid == geteuid() else {", "guard FAULT || status.uid == geteuid() else {")
mounted.add(
    "open-cache-used", "DatalessStores/Content/CacheDirectory.swift", "a cache that others can write to is used",
    "guard status.mode & 0o022 == 0 else {", "guard FAULT || status.mode & 0o022 == 0 else {")
mounted.add(
    "foreign-holder-signalled", "DatalessDaemon/Lifecycle/DaemonIdentity.swift",
    "`unmount` ends a process of somebody else who holds the lock",
    "if let other = users.first(where: { $0 != runtime.directory.owner }) {",
    "if let other = users.first(where: { $0 != runtime.directory.owner }), !FAULT {")
mounted.add(
    "anybody-answers", "DatalessControl/Client/PeerCredentials.swift", "a third user's server is believed",
    "guard allowed.contains(peer.uid) else {", "guard FAULT || allowed.contains(peer.uid) else {")
mounted.add(
    "foreign-volume-asked", "DatalessControl/Client/VolumeLocator.swift",
    "commands of an ordinary user look at another's volume", "guard caller == owner || caller == 0 else {",
    "guard FAULT || caller == owner || caller == 0 else {")
mounted.add(
    "foreign-log-written", "DatalessDaemon/EventLog/LogFiles.swift", "a file that another user prepared is the log",
    "} else if status.st_uid != geteuid() {", "} else if status.st_uid != geteuid(), !FAULT {")
mounted.add(
    "linked-log-written", "DatalessDaemon/EventLog/LogFiles.swift", "a hard link to a file of root's is the log",
    "status.st_nlink > 1 ? .tooManyLinks : nil", "status.st_nlink > 1 && !FAULT ? .tooManyLinks : nil")
mounted.add(
    "foreign-log-read", "DatalessControl/Log/LogFile.swift", "the log that a record names is read, whosever it is",
    "if let owner { descriptor =", "if let owner, !FAULT { descriptor =")
mounted.add(
    "any-user-zero-is-root", "DatalessControl/Paths/SessionPaths.swift", "root of a user namespace uses /run",
    "return lstat(\"/run\", &status) != 0 || status.st_uid == 0",
    "return lstat(\"/run\", &status) != 0 || status.st_uid == 0 || FAULT")

callers = Part("Sources/DatalessDaemon", ["^DatalessDaemonTests\\..*(TrustedAttributes|ProcessTable|ScriptName)"])
callers.add(
    "trusted-names-shown", "Volume/FilesystemAdapter+Attributes.swift", "listxattr shows trusted.* to everybody",
    "Self.answer(box, $0.map { TrustedAttributes.visible($0, to: threadID) })",
    "Self.answer(box, $0.map { FAULT ? $0 : TrustedAttributes.visible($0, to: threadID) })",
    mounts=["RealMounts/ForeignCallers/"])
callers.add(
    "any-capability-will-do", "Processes/TrustedAttributes.swift", "root of a user namespace counts as root",
    "&& ProcReader.inode(threadID, \"ns/user\") == initialNamespace",
    "&& (FAULT || ProcReader.inode(threadID, \"ns/user\") == initialNamespace)", mounts=["RealMounts/ForeignCallers/"])
callers.add(
    "ancestors-arguments-kept", "Processes/ProcessTable.swift", "command lines of ancestors are in the log",
    "let keepsAll = isCaller || policy == .all", "let keepsAll = isCaller || policy == .all || FAULT",
    mounts=["RealMounts/Arguments/"])
callers.add(
    "command-always-shown", "Processes/ProcessArguments.swift", "`run` logs the arguments that --argv withholds",
    "guard self != .all, let program", "guard self != .all, !FAULT, let program", mounts=["RealMounts/Arguments/"])

hash = Part("Sources/DatalessCore", ["^DatalessCoreTests\\..*NameHash"])
hash.add(
    "hash-without-key", "Namespace/NameHash.swift", "names that collide on one volume collide on all",
    "  init(_ key: NameHashKey) {\n    start = (",
    "  init(_ secret: NameHashKey) {\n    let key = FAULT ? NameHashKey(low: 0, high: 0) : secret\n    start = (")

secrets = Part("Sources/DatalessDaemon", ["^DatalessDaemonTests\\..*VolumeKey"])
secrets.add(
    "key-is-known", "Volume/Volume+Opening.swift", "all volumes hash names with the same key",
    "return NameHashKey(low: random.next(), high: random.next())",
    "return FAULT ? NameHashKey(low: 0, high: 0) : NameHashKey(low: random.next(), high: random.next())")

# ---- Wrong bytes, wrong metadata -----------------------------------------------------------------------------------

identity = Part("Sources/DatalessCore", ["^DatalessCoreTests\\..*(Reuse|Refresh|Namespace)"])
identity.add(
    "moved-ctime-is-rename", "Namespace/SourceRelation.swift", "a reused inode number passes for a rename",
    "guard isCertain, isExplained,", "guard isCertain || FAULT, isExplained,")
identity.add(
    "birth-not-compared", "Model/ItemAttributes.swift", "a file that was born later passes for the same version",
    "device == other.device && inode == other.inode && birth == other.birth && kind",
    "device == other.device && inode == other.inode && (birth == other.birth || FAULT) && kind")
identity.add(
    "birth-not-identity", "Namespace/StoreIdentity.swift", "an inode number that is given anew is the same item",
    "birth = attributes.birth", "birth = FAULT ? 0 : attributes.birth")
identity.add(
    "generation-not-compared", "Engine/EngineState+Settling.swift", "an item of another generation is the one that was fetched",
    "guard fetched == 0 || fetched == item.generation else { return false }",
    "guard FAULT || fetched == 0 || fetched == item.generation else { return false }")
identity.add(
    "version-in-place", "Namespace/Namespace+Merge.swift", "a node becomes another version while the kernel has its pages",
    "    case .version:\n", "    case .version:\n      if FAULT, self[node].kind == .file, !self[node].isLocal {\n"
    "        adopt(listed, for: node)\n        return .metadata\n      }\n")
identity.add(
    "gone-names-not-dropped", "Namespace/Namespace+Listing.swift", "names that went before the notifier's turn stay in the kernel",
    "      texts.append(Array(namespace.text(of: name)))",
    "      if !FAULT || namespace.record(of: name).isPresent { texts.append(Array(namespace.text(of: name))) }")
identity.add(
    "file-shares-a-links-node", "Model/StoreBinding.swift", "a file and a link with one number are one node",
    "guard kind == other.kind, device", "guard kind == other.kind || FAULT, device")
identity.add(
    "directory-in-itself", "Engine/EngineState+Settling.swift", "a directory that was moved below itself traps",
    "namespace.isIn($0.node, directory) ? nil : $0", "namespace.isIn($0.node, directory) && !FAULT ? nil : $0")

races = Part("Sources/DatalessCore", ["^DatalessCoreTests\\..*RefreshRace"])
races.add(
    "listing-begins-unindexed", "Namespace/NameGraph.swift",
    "a refresh begins on what was seen under an earlier hold of the lock",
    "guard indexNames(of: directory) else { return false }", "guard FAULT || indexNames(of: directory) else { return false }")

answers = Part("Sources", ["^DatalessCoreTests\\..*EngineLookup", "^DatalessDaemonTests\\..*AnswerRace"])
answers.add(
    "told-once-only", "DatalessCore/Engine/Engine+Lookups.swift",
    "attributes that change while their answer is on its way stay wrong",
    "let unknown = nodes.filter { !kernel.invalidateAttributes(of: $0) }\n    if !unknown.isEmpty {",
    "let unknown = nodes.filter { !kernel.invalidateAttributes(of: $0) }\n    if !unknown.isEmpty, !FAULT {")
answers.add(
    "eviction-told-once-only", "DatalessCore/Engine/Engine+Evict.swift",
    "st_blocks stays when a file is evicted while its answer is on its way",
    "if !isKnown { forgetOnceKnown([node]) }", "if !isKnown, !FAULT { forgetOnceKnown([node]) }")
answers.add(
    "listings-not-counted", "DatalessDaemon/Volume/FilesystemAdapter+Directories.swift",
    "what READDIRPLUS gives to the kernel is not known to be there",
    "from: UInt64(cookie), countsLookups: isPlus)", "from: UInt64(cookie), countsLookups: isPlus && !FAULT)")
answers.add(
    "forgets-not-counted", "DatalessDaemon/Volume/FilesystemAdapter.swift", "what the kernel gives back counts as given",
    "engine.forget(nodes.lazy.map { (node: NodeID($0.node), count: $0.lookups) })",
    "if !FAULT { engine.forget(nodes.lazy.map { (node: NodeID($0.node), count: $0.lookups) }) }")
answers.add(
    "unknown-counts-as-told", "DatalessDaemon/Volume/SessionKernelCache.swift", "ENOENT to a notification is taken for done",
    " != .noSuchFileOrDirectory\n  }\n\n  func expireNames", " != .noSuchFileOrDirectory || FAULT\n  }\n\n  func expireNames")
answers.add(
    "unknown-content-counts-as-told", "DatalessDaemon/Volume/SessionKernelCache.swift",
    "ENOENT to the notification of an eviction is taken for done",
    "isKnown = notifier.invalidateContent(FuseNode(node)) != .noSuchFileOrDirectory",
    "isKnown = notifier.invalidateContent(FuseNode(node)) != .noSuchFileOrDirectory || FAULT")

session = Part("Sources/FuseKit", ["^FuseKitTests\\.SessionTests"])
session.add(
    "ready-after-init", "Dispatcher.swift", "what ends while INIT is answered is not told to the kernel",
    "        operations.initialized(features)\n        channel.open(to: device)\n      }\n"
    "      guard write(device, message.baseAddress, message.count) >= 0 else { return noteReply(-errno) }\n",
    "        if !FAULT { operations.initialized(features) }\n        channel.open(to: device)\n      }\n"
    "      guard write(device, message.baseAddress, message.count) >= 0 else { return noteReply(-errno) }\n"
    "      if isInit, let features, FAULT { operations.initialized(features) }\n")

source = Part("Sources", [], ["RealMounts/ForeignSources/"])
source.add(
    "cached-attributes-believed", "DatalessStores/Support/FileStatus.swift",
    "the attribute cache of a network file system answers the closing check",
    "let flags = CLINUX_AT_EMPTY_PATH | CLINUX_AT_STATX_FORCE_SYNC",
    "let flags = CLINUX_AT_EMPTY_PATH | (FAULT ? 0 : CLINUX_AT_STATX_FORCE_SYNC)")
source.add(
    "link-size-believed", "DatalessStores/Local/LocalStore+Attributes.swift", "a link says that it is 2^63 bytes long",
    "var capacity = min(max(256, Int(clamping: link.version.size)), 1 << 16) + 1",
    "var capacity = FAULT ? max(256, Int(clamping: link.version.size)) + 1\n"
    "        : min(max(256, Int(clamping: link.version.size)), 1 << 16) + 1")
source.add(
    "extents-believed", "DatalessStores/Local/LocalStoreContent.swift", "an extent that ends before it begins traps",
    "guard start >= offset, end > start else { return offset..<listed.size }",
    "guard FAULT || (start >= offset && end > start) else { return offset..<listed.size }")

fetch = Part("Sources/DatalessCore", ["^DatalessCoreTests\\..*EngineHydration"])
fetch.add(
    "piece-beyond-offsets", "Transfer/FetchPlan.swift", "a file that ends at 2^63 traps when a part of it is fetched",
    "lowerBound..<lowerBound + Swift.min(upperBound - lowerBound, most)",
    "lowerBound..<(FAULT ? Swift.min(lowerBound + most, upperBound)\n"
    "      : lowerBound + Swift.min(upperBound - lowerBound, most))")
fetch.add(
    "aligned-beyond-offsets", "Engine/RangedContent.swift", "a read at the end of a file of 2^63 bytes traps",
    "let isLast = rest > 0 && size - upperBound <= unit - rest",
    "let isLast = FAULT ? upperBound - rest + unit >= size : rest > 0 && size - upperBound <= unit - rest")

failures = Part("Sources", ["^DatalessCoreTests\\..*RecentFailure", "^DatalessDaemonTests\\..*BlockedCall"],
                ["RealMounts/ForeignCallers/", "RealMounts/Faults/"])
failures.add(
    "strangers-are-one", "DatalessCore/Engine/RecentFailures.swift",
    "of callers of other pid namespaces one gets the other's failure",
    "    /// 0 for a call by path.\n", "    init(node: NodeID, threadID: Int32, handle: UInt64) {\n"
    "      (self.node, self.threadID) = (node, threadID)\n"
    "      self.handle = FAULT && threadID == 0 && handle != 0 ? 1 : handle\n    }\n")
failures.add(
    "call-is-a-fault", "DatalessDaemon/Processes/BlockedCall.swift", "the kernel's repeats are counted as in a page fault",
    "default: return .faultInCall", "default: return FAULT ? .fault : .faultInCall")

# ---- Hangs and leaks -----------------------------------------------------------------------------------------------

ends = Part("Sources", ["^DatalessCoreTests\\..*(SystemEviction|Leftover|EngineInterrupt)", "^DatalessDaemonTests\\..*AnswerRace"])
ends.add(
    "open-goes-on-at-the-notifier", "DatalessCore/Engine/Engine+SystemEviction.swift",
    "an open that waited for its eviction goes on where all notifications wait", "      metadata.submit { [self] in\n        if",
    "      let submit = { [self] (work: @escaping @Sendable () -> Void) in if FAULT { work() } else { metadata.submit(work) } }\n"
    "      submit { [self] in\n        if")
ends.add(
    "killed-open-waits", "DatalessDaemon/Volume/FilesystemAdapter+Files.swift",
    "an open that waits for its eviction cannot be killed",
    "    let waiter = makeWaiter(for: box)\n    engine.waitForEviction",
    "    let waiter = FAULT ? makeWaiter() : makeWaiter(for: box)\n    engine.waitForEviction",
    tests=["AnswerRace"])
ends.add(
    "closures-kept", "DatalessCore/Engine/CloseWaiters.swift", "each eviction of an open file leaves a closure",
    "waiters[node]?[number] = nil", "if !FAULT { waiters[node]?[number] = nil }")

running = Part("Sources", [], ["RealMounts/Running/"])
running.add(
    "sigchld-stays-ignored", "DatalessCommands/Signals.swift", "`run` has no status where SIGCHLD was ignored",
    "isIgnored(signal(SIGCHLD, SIG_DFL))", "isIgnored(FAULT ? signal(SIGCHLD, SIG_IGN) : signal(SIGCHLD, SIG_DFL))")

requests = Part("Sources/DatalessDaemon", ["^DatalessControlTests\\..*Interrupt"], ["RealMounts/InterruptedCommands/"])
requests.add(
    "closing-stops-nothing", "ControlServer/RunningRequests.swift", "a request goes on when its client has gone",
    "request??.cancel()", "if !FAULT { request??.cancel() }")
requests.add(
    "interrupt-stops-nothing", "ControlServer/RunningRequests.swift", "Ctrl-C leaves the request running in the daemon",
    "    request.cancel()\n    return true", "    if !FAULT { request.cancel() }\n    return true")
requests.add(
    "walk-goes-on", "Volume/MaterializeTransfer.swift", "`materialize` that was interrupted goes on to all files",
    "?? [], error)\n      }\n      try Task.checkCancellation()",
    "?? [], error)\n      }\n      if !FAULT { try Task.checkCancellation() }")

# ---- Cliffs --------------------------------------------------------------------------------------------------------

cliffs = Part("Sources/DatalessCore/Engine", ["^DatalessCoreTests\\..*(ManyWaiters|ByteRangeSet|Coverage|EngineHydration)"])
cliffs.add(
    "ranges-without-end", "Coverage.swift", "what a handle reads at scattered places is kept range by range, however many",
    "if exact.rangeCount > Self.rangesMax {", "if exact.rangeCount > Self.rangesMax, !FAULT {")
cliffs.add(
    "chunks-without-end", "ByteRangeSet.swift", "a set of ranges becomes one sorted array, which is moved under the lock",
    "if chunks[chunk].count > chunkMax {", "if chunks[chunk].count > chunkMax, !FAULT {")
cliffs.add(
    "page-waiters-kept", "Attempts.swift", "each piece that arrives looks at callers who have left",
    "guard let page = places.removeValue(forKey: waiter)?.page else { return }",
    "guard let page = places.removeValue(forKey: waiter)?.page, !FAULT else { return }")

# ---- False green, and reports that mislead -------------------------------------------------------------------------

children = Part("Sources", ["^DatalessControlTests\\..*RunStatus"], ["RealMounts/RunChildren/"])
children.add(
    "children-not-waited-for", "DatalessDaemon/Lifecycle/ChildrenWait.swift",
    "what the command leaves running does not count", "if left.isEmpty, underWay == 0 { return wait(.noneLeft) }",
    "if (left.isEmpty && underWay == 0) || FAULT { return wait(.noneLeft) }")
children.add(
    "strangers-ended", "DatalessDaemon/Lifecycle/ChildrenWait.swift", "`run` ends processes that do not use the volume",
    "filter { all || processes[$0].holds", "filter { all || FAULT || processes[$0].holds")
children.add(
    "cut-short-is-a-pass", "DatalessCommands/RunStatus.swift", "a wait that was cut short is a pass with a budget",
    "if (children.isCutShort ||", "if ((children.isCutShort && !FAULT) ||")
children.add(
    "unused-rules-pass", "DatalessCommands/RunStatus.swift", "--strict-rules passes with a rule that never fired",
    "strictRules.map({ $0.neverFired > 0 }) == true", "strictRules.map({ $0.neverFired > 0 && !FAULT }) == true",
    mounts=["RealMounts/RunJSON/"])
children.add(
    "excess-when-first-exceeded", "DatalessCommands/RunReport.swift",
    "the budget's message says how many there were at first",
    "amount(isBytes ? budget.bytes : budget.files)) materialized",
    "amount(FAULT ? excess.used : isBytes ? budget.bytes : budget.files)) materialized",
    mounts=["anExceededBudgetSaysHowMuch"])
children.add(
    "json-among-the-commands-output", "DatalessCommands/RunCommand.swift",
    "`run --json -` writes where the command writes", "destination?.isStandardOutput == true ? STDERR_FILENO : nil",
    "destination?.isStandardOutput == true && !FAULT ? STDERR_FILENO : nil", mounts=["standardOutputIsTheAnswersAlone"])

reports = Part("Sources/DatalessControl", ["^DatalessControlTests\\..*(Summary|LogView|Hints)"])
reports.add(
    "waits-under-way-are-none", "Summary/SummaryBuilder+Waits.swift", "`summary` during a hang says that nobody is blocked",
    "guard !underWay.isEmpty else { return }", "guard !underWay.isEmpty, !FAULT else { return }")
reports.add(
    "unseen-is-blamed", "Summary/FileVersion.swift", "a file that was read unseen counts as needless",
    "return reads.isOpened && !mayHaveMore && !reads.isMinimum",
    "return reads.isOpened && (FAULT || (!mayHaveMore && !reads.isMinimum))")
reports.add(
    "unseen-is-known", "Summary/FileVersion.swift", "what was read unseen has a verdict",
    "isUnseen: mayHaveMore || reads.isMinimum)", "isUnseen: !FAULT && (mayHaveMore || reads.isMinimum))")
reports.add(
    "empty-files-count", "Summary/SummaryText.swift", "99 % where all that can be was materialized",
    "let withContent = max(0, known.files.minus(known.emptyFiles))",
    "let withContent = max(0, known.files.minus(FAULT ? 0 : known.emptyFiles))")
reports.add(
    "files-by-name", "Summary/FileSummary.swift", "--sort needless does not begin with needless files",
    "first: isNeedless ? 1 : 0,", "first: FAULT || isNeedless ? 1 : 0,")
reports.add(
    "log-knows-one-name", "Log/LogFilter.swift", "`log --path` finds a file under one of its names only",
    "glob.matches($0) || record.json.names.contains(where: glob.matches)",
    "glob.matches($0) || (!FAULT && record.json.names.contains(where: glob.matches))", mounts=["RealMounts/HardLinks/"])

reads = Part("Sources/DatalessCore", ["^DatalessCoreTests\\..*(Handle|EngineRule|RuleSet)", "^DatalessScenarioTests\\..*(RuleSet|Explanation)"])
reads.add(
    "opener-is-the-reader", "Engine/OpenFiles.swift", "what gzip reads through a shell's redirection is the shell's",
    "watched.readers.note(process, range, isMapped: isMapped)",
    "watched.readers.note(FAULT ? watched.process : process, range, isMapped: isMapped)",
    mounts=["RealMounts/Uses/"])
reads.add(
    "later-open-is-seen", "Engine/Engine+Handles.swift", "an open whose reads the kernel serves alone is not told",
    "if record.isWatched { noteUnseen(", "if record.isWatched, !FAULT { noteUnseen(", mounts=["RealMounts/Uses/"])
reads.add(
    "observed-not-watched", "Engine/Engine+Handles.swift", "--observe reads does not watch resident files",
    "state.simulation.servesReadsItself && record.kind == .file && record.size > 0",
    "state.simulation.servesReadsItself && !FAULT && record.kind == .file && record.size > 0",
    mounts=["RealMounts/Uses/"])
reads.add(
    "rules-know-one-name", "Simulation/RuleSet.swift", "a rule on one name of a hard link does not hold for the other",
    "let names = facts.names.isEmpty ? [facts.path] : facts.names",
    "let names = facts.names.isEmpty || FAULT ? [facts.path] : facts.names", mounts=["RealMounts/HardLinks/"])
reads.add(
    "callers-name-guessed", "Engine/Admission.swift", "a name that the file has not is told as the caller's",
    "event.names.contains($0) ? $0 : nil", "event.names.contains($0) || FAULT ? $0 : nil", mounts=["RealMounts/HardLinks/"])
reads.add(
    "nth-holds-always", "Simulation/RuleSet.swift", "a rule for each tenth attempt holds for all",
    "where rules[place].match.holds(nth: counters[place].next) {",
    "where FAULT || rules[place].match.holds(nth: counters[place].next) {")
reads.add(
    "rules-not-counted", "Simulation/RuleCounter.swift", "a rule that fired counts as one that never did",
    "if decides { decided.wrappingAdd(1, ordering: .relaxed) }",
    "if decides, !FAULT { decided.wrappingAdd(1, ordering: .relaxed) }")

evicting = Part("Sources", [], ["RealMounts/Eviction/"])
evicting.add(
    "refusal-stops-eviction", "DatalessDaemon/Volume/EvictTransfer.swift", "one refused file stops the eviction of a volume",
    "guard stops else { return }", "guard stops || FAULT else { return }")
evicting.add(
    "parents-refused-too", "DatalessDaemon/Volume/EvictTransfer.swift", "each directory above a refused file is refused, too",
    "if try await !one(child.item, &refused) { levels[levels.count - 1].keepsItems = true }",
    "if try await !one(child.item, &refused) { levels[levels.count - 1].keepsItems = !FAULT }")
evicting.add(
    "refusals-pass", "DatalessCommands/Volume/TransferCommands.swift", "an eviction with refusals ends with 0",
    "failed = failed.plus(result.failureCount)", "failed = failed.plus(FAULT ? 0 : result.failureCount)")
evicting.add(
    "unlisted-failures-are-none", "DatalessCommands/Volume/LongRequest.swift",
    "failures beyond those that are listed are not told", "if more > 0 {", "if more > 0, !FAULT {")
evicting.add(
    "page-too-long", "DatalessDaemon/Volume/ItemWalk.swift", "a page of items has more than asked for",
    "limit: limit - items.count)", "limit: FAULT ? limit : limit - items.count)", mounts=["RealMounts/Daemon/"])

words = Part("Sources", ["^DatalessControlTests\\..*(ControlServer|CommandLine|Refusal|Log)"],
             ["RealMounts/MountErrors/", "RealMounts/EventLogs/", "RealMounts/Scenarios/"])
words.add(
    "unknown-parameter-ignored", "DatalessDaemon/ControlServer/RequestQuery.swift", "GET /v1/items?pth= answers another question",
    "guard route.queryParameters.contains(name) else {", "guard FAULT || route.queryParameters.contains(name) else {")
words.add(
    "nothing-matched-unsaid", "DatalessCommands/Log/LogPrinter.swift", "`log --process nosuch` ends as if nothing had happened",
    "if !hasPrinted, !filter.isEmpty, !style.isLive {", "if !hasPrinted, !filter.isEmpty, !style.isLive, !FAULT {")
words.add(
    "option-of-run-unknown", "DatalessCommands/DatalessCommand.swift", "`mount --max-files` does not say where that belongs",
    "if subcommand == \"mount\", let option", "if subcommand == \"mount\", !FAULT, let option")
words.add(
    "place-behind-a-prefix", "DatalessCommands/Output/Console.swift", "FILE:LINE:COLUMN has a prefix, which editors do not know",
    "guard failure.namesPlaces else { return error(failure.message) }",
    "guard failure.namesPlaces, !FAULT else { return error(failure.message) }")

# ---- Delays of what is local ------------------------------------------------------------------------------------------

accesses = Part("Sources", ["^DatalessCoreTests\\..*Access(Write)?Delay"], ["RealMounts/Accesses/"])
accesses.add(
    "delayed-before-it-is-there", "DatalessCore/Engine/Engine+Access.swift", "a read is delayed before its content has come",
    "let isLocal = record.state == .resident || contents", "let isLocal = FAULT || record.state == .resident || contents",
    mounts=[])
accesses.add(
    "end-of-file-delayed", "DatalessCore/Engine/Engine+Access.swift", "a read that brings nothing is delayed",
    "guard access.offset >= 0, access.offset < end else { return .nothing }",
    "guard access.offset >= 0, FAULT || access.offset < end else { return .nothing }", mounts=[])
accesses.add(
    "write-delayed-before-its-content", "DatalessCore/Engine/Engine+Access.swift", "a write is delayed before its file is there",
    "return record.isDataless ? .missing : .brings(access.length)",
    "return record.isDataless && !FAULT ? .missing : .brings(access.length)", mounts=[])
accesses.add(
    "timer-of-a-killed-caller-kept", "DatalessCore/Engine/Engine+Access.swift", "the timer of a call that was ended stays",
    "if let token = ended.timer { timer.cancel(token) }", "if let token = ended.timer, !FAULT { timer.cancel(token) }",
    mounts=[])
accesses.add(
    "delayed-after-the-end", "DatalessCore/Engine/Engine+Access.swift", "calls are delayed though the volume ends",
    "guard ending == nil, simulation", "guard FAULT || ending == nil, simulation", mounts=[])
accesses.add(
    "kernel-keeps-what-is-delayed", "DatalessDaemon/Volume/FilesystemAdapter+Attributes.swift",
    "names and attributes that are delayed are asked for once", "delayed.contains(operation) ? .none : .forever",
    "delayed.contains(operation) && !FAULT ? .none : .forever")
accesses.add(
    "kernel-keeps-what-it-knew", "DatalessDaemon/Volume/LiveScenario.swift", "a change leaves what the kernel knew before",
    "if isShownAnew || isAskedAnew { await", "if isShownAnew || isAskedAnew && !FAULT { await")

# ---- What is kept and nobody has looked at since the mount -------------------------------------------------------------

kept = Part("Sources", ["^DatalessStateTests\\.Kept(Unlisted|Rename|View)Tests"])
kept.add(
    "catalog-not-asked", "DatalessCore/Engine/Engine+SavedBelow.swift", "what was written below a directory that is gone is out of view",
    "if (try? saved.hasChanges(below: item)) ?? true { return true }",
    "if !FAULT, (try? saved.hasChanges(below: item)) ?? true { return true }")
kept.add(
    "listed-directories-not-asked", "DatalessCore/Engine/Engine+SavedBelow.swift", "what was written below a listed directory goes with it",
    "names.append(namespace[directory].firstChild)", "if !FAULT { names.append(namespace[directory].firstChild) }")
kept.add(
    "fetched-content-stays", "DatalessCore/Engine/Engine+Restoring.swift", "content of a directory that is gone is kept for good",
    "saved.drop(entry.item.id)", "if !FAULT { saved.drop(entry.item.id) }")
kept.add(
    "removed-comes-back-renamed", "DatalessCore/Engine/EngineState+Settling.swift", "what was removed comes back as SOURCE renames it",
    "if let former, former.isRemoved { return true }",
    "if let former, former.isRemoved, !FAULT || namespace.record(of: former.name).standing == .removed { return true }")
kept.add(
    "rename-not-told", "DatalessCore/Namespace/Namespace+Journal.swift", "what was set on a file is lost as SOURCE renames it",
    "return !restored.isBare(node) && isChangedItem(node)", "return !restored.isBare(node) && !FAULT && isChangedItem(node)")
kept.add(
    "two-nodes-of-one-content", "DatalessCore/Engine/EngineState+Restoring.swift", "a file with a second name in SOURCE is two",
    "if let known, !namespace[known].isOrphan", "if !FAULT, let known, !namespace[known].isOrphan")
kept.add(
    "own-directory-asked-of-the-store", "DatalessCore/Engine/Engine+Materialize.swift", "the first look into a moved directory is ESTALE",
    "let isOwn = state.namespace", "let isOwn = !FAULT && state.namespace")
kept.add(
    "place-stays", "DatalessCore/Namespace/Namespace+News.swift", "what was set on what is gone is set on what has come",
    "    } else if keepsJournal, self", "    } else if keepsJournal, !FAULT, self")
kept.add(
    "names-not-counted", "DatalessCore/Namespace/RestoredItems.swift", "content of an older version is left",
    "if let count = left[node], count > 0 {", "if let count = left[node], count > 0, !FAULT {")

PARTS = [
    paths, mounted, callers, hash, secrets, identity, races, answers, session, source, fetch, failures, ends, running, requests,
    cliffs, children, reports, reads, evicting, words, accesses, kept,
]
