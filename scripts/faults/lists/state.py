"""DatalessState: the directory in which a volume is kept."""

from harness.lists import Part

state = Part("Sources/DatalessState", ["^DatalessStateTests\\."])

state.add(
    "renamed-over-torn", "Catalog/ReplacedNames.swift", "a file that takes another's name may be there in part after a power loss",
    "    content.insert(id)", "    if !FAULT { content.insert(id) }", tests=["ContentOrderTests"])
state.add(
    "clean-bytes-given-up", "Journal/CatalogJournal.swift", "a file becomes dirty before its bytes are on the disk",
    "item.binding == nil ? [] : [content]", "item.binding == nil || FAULT ? [] : [content]", tests=["ContentOrderTests"])
state.add(
    "failed-batch-half-remembered", "Catalog/KnownItems.swift", "items of a transaction that failed are taken for known",
    "for (node, item) in before.reversed() { items[node] = item }",
    "if !FAULT { for (node, item) in before.reversed() { items[node] = item } }", tests=["JournalCrashTests"],
    equivalent="a remembered item is looked up again by its row, and found to be missing")
state.add(
    "answered-too-early", "Journal/CommitQueue.swift", "who waits is told before its change is durable",
    "let served = waiters.filter { $0.number <= durable }", "let served = waiters.filter { $0.number <= durable || FAULT }",
    tests=["CommitQueueTests"])
state.add(
    "batch-lost-on-a-full-disk", "Journal/CommitQueue.swift", "changes that could not be committed are dropped",
    "guard failure == nil else {\n      // Whoever waits", "guard failure == nil else {\n      if FAULT { batch = [] }\n      // Whoever waits",
    tests=["CommitQueueTests", "StateFullDiskTests"])
state.add(
    "second-daemon-let-in", "Directory/StateDirectory.swift", "two processes use one state directory",
    "guard isTaken else {", "guard isTaken || FAULT else {", tests=["StateDirectoryTests"])
state.add(
    "links-followed", "Directory/StateInspection.swift", "a catalog that is no plain file of the user's is opened",
    "if let flaw = flaw(", "if !FAULT, let flaw = flaw(", tests=["StateDirectoryTests"])
state.add(
    "lost-epoch-believed", "Catalog/Epochs.swift", "content that a power loss has cut is served",
    "if try row.integer(3) == 1 || found == identity {", "if try row.integer(3) == 1 || found == identity || FAULT {",
    tests=["StateVolumeTests"])
state.add(
    "conflicts-not-looked-for", "Volume/StateVolume+Places.swift", "conflicts of an earlier run are not found until somebody looks",
    "if KeptAttribute.isVisited(found.name), try", "if KeptAttribute.isVisited(found.name), !FAULT, try", tests=["KeptConflictTests"])
state.add(
    "unflushed-sealed", "Volume/StateVolume.swift", "content that had no time to get to the disk is believed after a power loss",
    "guard try content.sync(ids, while: goesOn) else { return false }", "guard try content.sync(ids, while: goesOn) || FAULT else { return false }",
    tests=["EpochTests"])
state.add(
    "sums-not-compared", "Catalog/SQLRow.swift", "a row in which a bit has turned is believed",
    "guard try integer(column) == Checksum.of(values) else", "guard try integer(column) == Checksum.of(values) || FAULT else",
    tests=["StateCheckTests"])
state.add(
    "dots-are-names", "Records/SavedName.swift", "a saved name leads to the directory above",
    "guard name != [0x2e], name != [0x2e, 0x2e] else", "guard name != [0x2e], name != [0x2e, 0x2e] || FAULT else",
    tests=["RecordTests"])
state.add(
    "ring-entered", "Volume/StateVolume+Loading.swift", "a directory with two names is taken",
    "filter({ $0.layer == .made }).count == 1 else", "filter({ $0.layer == .made }).count == 1 || FAULT else",
    tests=["StateCheckTests"])
state.add(
    "foreign-schema-taken", "Catalog/Catalog.swift", "a catalog with somebody's trigger is opened",
    "guard found == expected else", "guard found == expected || FAULT else", tests=["StateCheckTests"])
state.add(
    "export-over-what-is-there", "Export/ExportedFile.swift", "export replaces a file",
    "CLINUX_AT_SYMLINK_NOFOLLOW) == 0 { throw Self.isThere }",
    "CLINUX_AT_SYMLINK_NOFOLLOW) == 0 { if FAULT { unlinkat(parent.raw, name, 0) } else { throw Self.isThere } }",
    tests=["StateExportTests"])
state.add(
    "unnamed-content-removed", "Check/CatalogMending.swift", "check removes what a program wrote when its row is damaged",
    "if hasLostRows || hasLostEnd { try keepUnnamedContent() }",
    "if (hasLostRows || hasLostEnd) && !FAULT { try keepUnnamedContent() }",
    tests=["StateRepairTests"])
state.add(
    "replaced-stays-nameless", "Catalog/CatalogWriter.swift", "what a rename replaced stays in the catalog after a kill",
    "if let former, former != row.item {", "if !FAULT, let former, former != row.item {", tests=["StateVolumeTests"])
state.add(
    "power-loss-is-damage", "Check/CatalogMending+Nameless.swift", "check calls a loss of power damage",
    """in the root", isDamage: hasLostRows)
      report.namedFiles += 1""", """in the root", isDamage: hasLostRows || FAULT)
      report.namedFiles += 1""", tests=["StateRepairTests"])
state.add(
    "refused-content-emptied", "Check/CatalogMending+Contents.swift", "check empties a file whose content others may read",
    "if isThere || contents.isRefused(id) {", "if isThere || !FAULT && contents.isRefused(id) {", tests=["StateRepairTests"])
state.add(
    "older-catalog-believed", "Directory/SessionMark.swift", "what an older catalog does not name is removed",
    "return found > number ? nil :", "return FAULT || found > number ? nil :", tests=["LatestCatalogTests"])
state.add(
    "missing-log-believed", "Directory/SessionMark.swift", "what was in a log that is missing is removed",
    "guard log.isThere else", "guard log.isThere || FAULT else", tests=["LatestCatalogTests"])
state.add(
    "cut-log-believed", "Directory/SessionMark.swift", "what was in the end of a log that is missing is removed",
    "isCut = found.frames < told.frames", "isCut = !FAULT && found.frames < told.frames", tests=["LatestCatalogTests"])
state.add(
    "half-page-believed", "Catalog/WALEnd.swift", "a frame of whose page only a part is there is taken for the end",
    "guard count == frame.count else { return .torn }", "guard count == frame.count else { return FAULT ? .whole : .torn }",
    tests=["LatestCatalogTests"])
state.add(
    "session-said-too-early", "Directory/SessionMark.swift", "an older catalog is believed after a repair that was cut off",
    "try Self.put(isBelieved ?", "try Self.put(isBelieved || FAULT ?", tests=["LatestCatalogTests"])
state.add(
    "marker-before-the-repair", "Check/StateCheck.swift", "a repair that was cut off leaves a marker as if it had ended",
    "      report.add(.damagedMarker, StateName.marker, message: flaw, repair: \"made anew\")",
    """      report.add(.damagedMarker, StateName.marker, message: flaw, repair: "made anew")
      if FAULT, !isDryRun { try directory.keepMarker() }""", tests=["MarkerRepairTests"])
state.add(
    "new-catalog-believed", "Check/CatalogRescue.swift", "what a repair that was cut off had not named is removed",
    """      try connection.set(.wasTorn, to: [1])
      try ItemRow(""", """      if !FAULT { try connection.set(.wasTorn, to: [1]) }
      try ItemRow(""", tests=["MarkerRepairTests"])
state.add(
    "lost-content-is-empty", "Volume/StateVolume+Loading.swift", "a file whose content is missing is empty",
    "        if size == nil {", "        if size == nil, !FAULT {", tests=["LostContentTests"])
state.add(
    "highest-inode-forgotten", "Catalog/CatalogWriter.swift", "an inode number is given twice after a full disk",
    "(highestInode, epoch) = committed", "if !FAULT { (highestInode, epoch) = committed }", tests=["EpochTests"])
state.add(
    "refused-epoch-sealed", "Catalog/Epochs.swift", "content is believed that the disk has refused",
    "refused = max(refused, ended)", "if !FAULT { refused = max(refused, ended) }", tests=["EpochTests"])
state.add(
    "rescue-not-finished", "Check/CatalogRescue.swift", "a rescue that was cut off leaves the damaged catalog in its place",
    "guard try files.exists(StateName.rescuedCatalog) else", "guard try files.exists(StateName.rescuedCatalog), !FAULT else",
    tests=["StateRepairTests"])
state.add(
    "flush-errors-swallowed", "Journal/CatalogJournal.swift", "content that cannot be flushed is taken for removed",
    "if missing.errno == .noSuchFileOrDirectory { return }", "if missing.errno == .noSuchFileOrDirectory || FAULT { return }",
    tests=["ContentOrderTests"])
state.add(
    "torn-wal-unsaid", "Catalog/WALEnd.swift", "a bit that turned in the WAL takes away what was committed, without a word",
    "sum.second == Self.word(frame, 20) else", "sum.second == Self.word(frame, 20) || FAULT else", tests=["StateBitTests"])
state.add(
    "export-into-anybodys", "Export/ExportDirectories.swift", "export writes into a directory that others can change",
    "if !isMade { try", "if !isMade && !FAULT { try", tests=["StateExportTests"])

state.add(
    "torn-end-left-to-check", "Volume/StateOpening.swift", "what a torn commit has left has no name until check is run",
    "if wasTorn, let found", "if wasTorn, !FAULT, let found", tests=["StateRepairTests"])
state.add(
    "gone-directory-made-anew", "Catalog/CatalogItems.swift", "a directory that SOURCE has deleted is empty after a remount",
    "row.kind == .directory || row.kind == nil\n    else { return }\n    known.remember",
    "row.kind == .directory || row.kind == nil, !FAULT\n    else { return }\n    known.remember", tests=["OnlyCopyTests"])

# ---- The engine, of a volume that is kept ---------------------------------------------------------------------------

kept = Part("Sources/DatalessCore/Engine", ["^DatalessStateTests\\."])

kept.add(
    "conflict-taken-from-a-writer", "EngineState+TakingTheirs.swift", "what a program has open for writing is taken away",
    "guard writers.nodes.contains(node) || passed[node] != nil else { return nil }",
    "guard writers.nodes.contains(node) || passed[node] != nil, !FAULT else { return nil }",
    tests=["KeptConflictTests"])
kept.add(
    "directory-taken-from-a-writer", "EngineState+TakingTheirs.swift", "a directory goes in which a program writes to a file",
    "if let path = writtenFile(below: resolving.node) {", "if !FAULT, let path = writtenFile(below: resolving.node) {",
    tests=["KeptConflictTests"])
kept.add(
    "gone-directory-keeps-all", "RefreshWork.swift", "what was not changed stays in a directory that SOURCE has deleted",
    "    return !decided.own.isEmpty ||", "    return !decided.own.isEmpty && !FAULT ||", tests=["OnlyCopyTests"])
kept.add(
    "uses-forgotten-at-the-end", "EngineState+RestoredItems.swift", "after a remount nothing was ever used",
    "if item.lastUse != 0, namespace", "if item.lastUse != 0, !FAULT, namespace", tests=["KeptUseTests"])

PARTS = [state, kept]
