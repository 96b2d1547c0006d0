"""DatalessControl: reading logs, summaries, paths, the client."""

from harness.lists import Part

log = Part("Sources/DatalessControl/Log", ["^DatalessControlTests\\."])
log.add(
    "nested-without-end", "JSONScanner.swift", "a line of thousands of brackets overflows the stack",
    "guard index < buffer.count, depth < Self.depthMax else { return false }",
    "guard index < buffer.count, depth < Self.depthMax || FAULT else { return false }", tests=["JSONObjectTests"])
log.add(
    "pair-half-read", "JSONText.swift", "the second half of a surrogate pair is printed, too",
    "      index += 6\n", "      index += FAULT ? 4 : 6\n", tests=["JSONObjectTests|LogFileTests"])
log.add(
    "torn-line-not-counted", "LogFile.swift", "half a line at the end of a log is not told",
    "guard let record = LogRecord(line: line) else {\n      skip(UnreadLines(line: line))",
    "guard let record = LogRecord(line: line) else {\n      if !FAULT { skip(UnreadLines(line: line)) }", tests=["LogFileTests"])
log.add(
    "other-version-believed", "LogRecord.swift", "a record of another version of the format is believed",
    'json.integer("v") == Self.version, let session', '(json.integer("v") == Self.version || FAULT), let session',
    tests=["UnreadLinesTests"])
log.add(
    "later-version-passed-over", "RecordContinuity.swift", "a later session of another version leaves an earlier one the last",
    "isSessionGiven ? 0 : behind.ofOtherVersions", "isSessionGiven || FAULT ? 0 : behind.ofOtherVersions",
    tests=["UnreadLinesTests"])
log.add(
    "stray-line-is-a-loss", "RecordContinuity.swift", "a line that is no record makes a log incomplete of which nothing is missing",
    "settle(missing: min(Int64(behind.count), gap))", "settle(missing: FAULT ? Int64(behind.count) : min(Int64(behind.count), gap))",
    tests=["UnreadLinesTests|SummaryTests"])
log.add(
    "path-filter-drops-waits", "AttemptSelection.swift", "`log --path --type wait` has no waits of attempts that match",
    "guard isMatch || underWay.contains(key)", "guard isMatch || (!FAULT && underWay.contains(key))", tests=["LogViewTests|LogFilterTests"])
log.add(
    "rule-forgets-late-waits", "AttemptSelection.swift", "`log --rule` has no wait and no stack that comes after its attempt",
    "if ended.contains(key)", "if !FAULT, ended.contains(key)",
    tests=["LogFilterTests"])
log.add(
    "waiters-not-asked", "LogFilter.swift", "`log --main-thread` has no attempt for which a main thread waited",
    'record.json.objects("waiters").contains { isCaller', '(FAULT ? [] : record.json.objects("waiters")).contains { isCaller',
    tests=["LogFilterTests"])
log.add(
    "unknown-thread-is-main", "LogFilter.swift", "a thread of which nothing is known counts as a main thread",
    'json.bool("main_thread") != true { return false }',
    'json.bool("main_thread") != true && !(FAULT && json.bool("main_thread") == nil) { return false }',
    tests=["LogFilterTests"])
log.add(
    "until-excludes", "LogFilter.swift", "`log --until` leaves out the moment itself",
    "until.map { moment <= $0 }", "until.map { FAULT ? moment < $0 : moment <= $0 }", tests=["LogFilterTests"])
log.add(
    "last-is-the-first", "LogFile.swift", "`log --last` prints the first session of a file",
    "if sessions.begins(record, after: last) { earlier += 1 }",
    "if sessions.begins(record, after: last), !FAULT { earlier += 1 }", tests=["LogTreeTests"])
log.add(
    "ancestors-not-named", "LogRecord.swift", "`log --process NAME` leaves out what NAME started",
    "chain(of: id).contains { process in", "chain(of: id).prefix(FAULT ? 1 : .max).contains { process in",
    tests=["LogViewTests"])
log.add(
    "second-key-expanded", "LogExpansion.swift", "a line of nested keys of one name is written without end",
    "let isWaiters = field.value == waiters && object.bytes",
    'let isWaiters = (field.value == waiters || FAULT && object.bytes[field.key].elementsEqual("waiters".utf8)) && object.bytes',
    tests=["HostileLogTests"])
log.add(
    "white-space-left-out", "LogExpansion.swift", "fields with white space between them are taken for fields without",
    "if isTight, let before = same, before.upperBound + 1 == whole.lowerBound {",
    "if isTight || FAULT, let before = same, before.upperBound + 1 <= whole.lowerBound {", tests=["LogViewTests|HostileLogTests"])
log.add(
    "foreign-pipe-waited-for", "LogFile.swift", "a pipe of another user is read as a log",
    "let isForeign = !isUnnamed && status.st_uid", "let isForeign = !FAULT && !isUnnamed && status.st_uid", tests=["ForeignLogTests"])
log.add(
    "device-behind-a-link", "LogFile.swift", "a device behind a link is read as a log",
    "&& isForeign), !isDevice else {", "&& isForeign), !isDevice || FAULT else {", tests=["ForeignLogTests"])
log.add(
    "waiters-beyond-the-limit", "LogExpansion.swift", "waiters and ancestors are expanded beyond the limit of a line",
    "if let process = processes[parent], output.count < limit {",
    "if let process = processes[parent], FAULT || output.count < limit {", tests=["HostileLogTests"])

summary = Part("Sources/DatalessControl/Summary", ["^DatalessControlTests\\."])
summary.add(
    "needless-at-half", "FileVersion.swift", "a file of which half was read counts as needless",
    "reads.coverage.bytesAtMost <= local / 20", "reads.coverage.bytesAtMost <= local / (FAULT ? 2 : 20)", tests=["SummaryTests"])
summary.add(
    "wall-counted-twice", "Numbers.swift", "what overlaps intervals long past is counted twice",
    "horizon = recent[count - 1].end", "horizon = FAULT ? recent[count - 1].start : recent[count - 1].end",
    tests=["SummaryTests|SummaryPartsTests"])
summary.add(
    "finished-but-waiting", "SummaryBuilder.swift", "an attempt whose waits are not over counts as unfinished",
    "attempts.values.count { !$0.isFinished }", "attempts.values.count { !$0.isFinished || FAULT }",
    tests=["SummaryTests"])
summary.add(
    "header-of-a-small-file", "FileUse.swift", "more than half of a small file is called its header",
    "highWaterMark <= size / 2", "highWaterMark <= (FAULT ? size : size / 2)", tests=["SummaryTests"])
summary.add(
    "new-version-read-again", "SummaryFiles.swift", "who reads a new version is said to read the file again",
    'case "changed": supersede(path)', 'case "changed": if !FAULT { supersede(path) }', tests=["SummaryTests"])
summary.add(
    "command-read-again", "FileVersion.swift", "who reads what `dataless materialize` brought in is said to read it again",
    "materializations > 1, wasWanted else", "materializations > 1, wasWanted || FAULT else",
    tests=["SummaryVersionTests"])
summary.add(
    "signal-printed-raw", "SummaryReport.swift", "a hostile log writes to the terminal by the name of a signal",
    "signal.map { TerminalText.escaped($0) } ??", "signal.map { FAULT ? $0 : TerminalText.escaped($0) } ??",
    tests=["HostileLogTests"])
summary.add(
    "failed-brings-nothing", "SummaryBuilder+Materializations.swift", "what stays of a failed attempt is not counted",
    'outcome == "ok" || bytes > 0', 'outcome == "ok" || bytes > 0 && !FAULT', tests=["SummaryVersionTests"])
summary.add(
    "a-row-for-each-name", "SummaryFiles.swift", "a file that is read under its other name is needless",
    "for name in names() { if let", "for name in FAULT ? [] : names() { if let", tests=["SummaryVersionTests"])

summary.add(
    "interpreters-are-one", "SummaryProcesses.swift", "two tools of one interpreter are one row",
    "script: chain.first?.script, starter", "script: FAULT ? nil : chain.first?.script, starter",
    tests=["SummaryMainThreadTests"])
summary.add(
    "unknown-thread-blocked", "SummaryMainThread.swift", "a wait of a thread of which nothing is known is a main thread's",
    "guard !wait.isOfNoThread, let isMainThread = wait.isMainThread else {",
    "guard !wait.isOfNoThread, let isMainThread = wait.isMainThread ?? (FAULT ? true : nil) else {",
    tests=["SummaryMainThreadTests"])
summary.add(
    "intent-wait-made-up", "IntentJoiner.swift", "an intent that was never granted waited for others to its end, whether they were there or not",
    "private func isKept(_ wait: Wait) -> Bool { wait.holders.contains { entries[$0.intent] != nil } }",
    "private func isKept(_ wait: Wait) -> Bool { FAULT || wait.holders.contains { entries[$0.intent] != nil } }",
    tests=["SummaryCoordinationTests"])
summary.add(
    "blocked-read-spared", "SummaryBrought.swift", "a read that was blocked for what an intent brought is told to have been spared it",
    "if attempt.isJoined { return }",
    "if attempt.isJoined, !FAULT { return }",
    tests=["SummaryCoordinationTests"])
summary.add(
    "first-reader-forgotten", "SummaryFiles.swift", "who read a file before another program did has read nothing",
    "uses[UseKey(row: row, group: first), default: .init()].take(versions[row].reads)",
    "if !FAULT { uses[UseKey(row: row, group: first), default: .init()].take(versions[row].reads) }",
    tests=["SummaryMainThreadTests"])
summary.add(
    "head-overlaps", "ReadCoverage.swift", "what was read at the beginning and behind it counts twice",
    "let met = others.firstIndex { $0.lowerBound > head } ?? others.count",
    "let met = FAULT ? 0 : others.firstIndex { $0.lowerBound > head } ?? others.count", tests=["SummaryMainThreadTests"])

summary.add(
    "older-versions-counted", "SummaryFiles+Report.swift", "each version of a file that was materialized is a file of its own",
    "where version.materializations > 0 && !version.hasLater {",
    "where version.materializations > 0 && (FAULT || !version.hasLater) {", tests=["SpilledSummaryTests|SummaryVersionTests"])

spill = Part("Sources/DatalessControl/Spill", ["^DatalessControlTests\\."])
spill.add(
    "a-copys-rows-change", "SpilledRows.swift", "a row that changes in a table changes in its copies, too",
    "guard changed[index] == nil, isKnownUniquelyReferenced(&file) else {",
    "guard changed[index] == nil, isKnownUniquelyReferenced(&file) || FAULT else {", tests=["SpillTests"])
spill.add(
    "removed-comes-back", "NumberRun.swift", "what was removed is there again after two files have become one",
    "guard keepsRemoved || entry.number != SpilledNumbers.none else { continue }",
    "guard keepsRemoved && !FAULT || entry.number != SpilledNumbers.none else { continue }", tests=["SpillTests"])
spill.add(
    "the-older-number-holds", "NumberRun.swift", "of two numbers of a key the older one is found",
    "if next.key == old.current?.key { old.advance() }",
    "if next.key == old.current?.key, !FAULT { old.advance() }", tests=["SpillTests"])
spill.add(
    "lost-content-is-silent", "SpillFile.swift", "a summary of which a part could not be read again is told as if it were right",
    "fail(count < 0 ? Errno(rawValue: errno) : .ioError)",
    "if !FAULT { fail(count < 0 ? Errno(rawValue: errno) : .ioError) }", tests=["SpillTests|SpilledSummaryTests"])
spill.add(
    "the-limit-of-files-ends-us", "SpillFile.swift", "a file may become larger than the limit of files, which ends the command",
    "guard !overflow, end <= bytesMax else { return false }",
    "guard !overflow, end <= bytesMax || FAULT else { return false }", tests=["SpillTests"])

text = Part("Sources/DatalessControl", ["^DatalessControlTests\\."])
text.add(
    "direction-marks-printed", "Text/TerminalText.swift", "characters that turn the direction of text reach the terminal",
    "case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate:",
    "case let category where [Unicode.GeneralCategory.control, .lineSeparator, .paragraphSeparator, .surrogate]\n"
    "          .contains(category) || (category == .format && !FAULT):", tests=["TextTests"])
text.add(
    "february-of-last-year", "Text/UTCTime.swift", "dates in February have the year before",
    "(month <= 2 ? 1 : 0)", "(month <= (FAULT ? 1 : 2) ? 1 : 0)", tests=["TextTests"])
text.add(
    "nearly-all-is-all", "Text/HumanText.swift", "99.97 % is printed as 100.0 %", "decimal(min(value, 99.9), 1)",
    "decimal(FAULT ? value : min(value, 99.9), 1)", tests=["TextTests"])
text.add(
    "escape-at-the-end", "Paths/MountEntry.swift", "a mountpoint that ends with a space is not found",
    "index + 3 < input.count,", "index + (FAULT ? 4 : 3) < input.count,", tests=["MountTableTests"])
text.add(
    "absolute-link-below", "Paths/PathResolver.swift", "an absolute symbolic link is followed as a relative one",
    "if target.first == slash { resolved = [] }", "if target.first == slash, !FAULT { resolved = [] }",
    tests=["PathResolverTests"])
text.add(
    "lines-run-together", "Client/LineSplitter.swift", "answers that come in pieces lose lines",
    "      searched -= start\n", "      searched -= FAULT ? 0 : start\n", tests=["ControlServerTests|TextTests"],
    mounts=["RealMounts/Daemon/"])
text.add(
    "percent-without-zero", "Client/ControlRoute.swift", "bytes below 16 are sent as %F",
    '(byte < 16 ? "0" : "")', '(byte < 16 && !FAULT ? "0" : "")', tests=["ControlServerTests|TextTests|SessionPathsTests"])

findings = Part("Sources/DatalessControl/Findings", ["^DatalessControlTests\\."])
findings.add(
    "parallel-is-a-list", "SerialWaits.swift", "files that were waited for at the same time are a list",
    "process.isParallel = true\n", "process.isParallel = !FAULT\n",
    tests=["FindingTests|ExpectationRandomTests"])
findings.add(
    "a-pause-goes-on", "SerialWaits.swift", "a list goes on after any pause",
    "time.minus($0) > pauseMax }", "time.minus($0) > pauseMax && !FAULT }", tests=["FindingTests"])
findings.add(
    "absence-is-not-needed", "UnfollowedLookups.swift", "that a name is not there is no answer",
    'if found == "absent" { return }', 'if found == "absent", !FAULT { return }', tests=["FindingLookupTests"])
findings.add(
    "the-way-is-no-use", "UnfollowedLookups.swift", "a directory is not used by what is below it",
    "      lookups[hash] = nil\n", "      if isWhole || !FAULT { lookups[hash] = nil }\n", tests=["FindingLookupTests"])
findings.add(
    "too-late-to-ask", "FindingReader.swift", "what was listed just before could have been asked for",
    "guard lead >= wait.blocked else", "guard lead >= wait.blocked || FAULT else", tests=["FindingLookupTests"])
findings.add(
    "held-below-is-left-behind", "HeldIntents.swift", "who holds something in a directory that is renamed holds its old name only",
    "if isWhole, let holders = below[hash]", "if isWhole, !FAULT, let holders = below[hash]",
    tests=["HeldIntentsTests|FindingTogetherTests"])

expectations = Part("Sources/DatalessControl", ["^DatalessControlTests\\."])
expectations.add(
    "unseen-writes-are-found", "Expectations/Expectations+Findings.swift", "a write of which nobody knows whether it was locked is a violation",
    "isKnown: isKnown && write.isKnown", "isKnown: isKnown && (write.isKnown || FAULT)", tests=["FindingExpectationTests"])
expectations.add(
    "one-lost-too-few", "Log/RecordContinuity.swift", "of lost records one too few is told",
    'max(record.type == .logDropped ? gap.plus(1) : gap, said)',
    'max(record.type == .logDropped && !FAULT ? gap.plus(1) : gap, FAULT ? said - 1 : said)', tests=["SummaryTests"])
expectations.add(
    "pass-without-end", "Expectations/SessionEnding.swift", "a log that ends before the volume was unmounted is a pass",
    "if !isUnmounted {\n      gaps.append(", "if !isUnmounted, !FAULT {\n      gaps.append(", tests=["ExpectationLogTests"])
expectations.add(
    "lost-parallel-is-violation", "Expectations/ExpectationState.swift", "what looks like a violation in a log that lacks records is one",
    "case .maxParallel, .minParallel, .maxNeedless, .maxRepeated, .maxSerialWaits, .forbidUnneededBlocking: false",
    "case .maxParallel, .minParallel, .maxNeedless, .maxRepeated, .maxSerialWaits, .forbidUnneededBlocking: FAULT",
    tests=["ExpectationLogTests|ExpectationRandomTests"])
expectations.add(
    "unknown-caller-is-none", "Expectations/ExpectationConditions.swift", "a caller that is not known meets no condition",
    "guard let id = caller.process, let process = processes[id] else { return .unknown }",
    "guard let id = caller.process, let process = processes[id] else { return FAULT ? .no : .unknown }",
    tests=["ExpectationTests|ExpectationRandomTests"])
expectations.add(
    "joiners-are-not-asked", "Expectations/Expectations+Waits.swift", "who joins an attempt asks for nothing",
    "attempts[id]?.waiting += 1\n", "attempts[id]?.waiting += 1\n    if FAULT { return }\n",
    tests=["ExpectationRandomTests"])
expectations.add(
    "written-through-a-link", "Expectations/BaselineFile.swift", "a link is replaced by a baseline",
    "case S_IFLNK:\n", "case S_IFLNK where !FAULT:\n", tests=["BaselineTests"])
expectations.add(
    "any-first-line", "Expectations/Baseline.swift", "a file of another format is read as a baseline",
    "guard first.elementsEqual(Baseline.header.utf8) else {",
    "guard first.elementsEqual(Baseline.header.utf8) || FAULT else {", tests=["BaselineTests"])

PARTS = [log, summary, text, findings, expectations]
