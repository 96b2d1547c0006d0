"""DatalessScenario, and the commands."""

from harness.lists import Part

scenario = Part("Sources/DatalessScenario", ["^DatalessScenarioTests\\.[A-EG-Z]"])
scenario.add(
    "chance-shadows", "Checks/RuleOverlaps.swift", "a rule that holds by chance is said to hide those behind it",
    "guard rule.match.probability == nil, !rule", "guard rule.match.probability == nil || FAULT, !rule",
    tests=["WarningTests"])
scenario.add(
    "disjoint-by-size", "Checks/RuleOverlaps.swift", "two gates of rules that share no size are said to overlap",
    "if let first = left.size, let second = right.size, !first.overlaps(second) { return true }",
    "if let first = left.size, let second = right.size, !first.overlaps(second), !FAULT { return true }",
    tests=["WarningTests"])
scenario.add(
    "prefix-not-compared", "Checks/RuleOverlaps.swift", "two gates in different folders are said to overlap",
    "return first.prefix.prefix(start) != second.prefix.prefix(start)",
    "return first.prefix.prefix(start) != second.prefix.prefix(start) && !FAULT", tests=["WarningTests"])
scenario.add(
    "taken-name-given", "Checks/RuleChecks.swift", "a rule without a name gets one that is taken",
    'while lines["rule-\\(number)"] != nil || taken.contains("rule-\\(number)") { number += 1 }',
    'while lines["rule-\\(number)"] != nil || (taken.contains("rule-\\(number)") && !FAULT) { number += 1 }',
    tests=["EditTests"])
scenario.add(
    "falling-delays", "Values/PercentileValues.swift", "delays that fall as percentiles rise are taken",
    "if lower.delay > upper.delay {", "if lower.delay > upper.delay, !FAULT {",
    tests=["RefusalTests"])
scenario.add(
    "cancelled-replayed", "Values/ReplayValues.swift", "delays of cancelled attempts are replayed",
    'value("outcome", line) != "cancelled"', 'value("outcome", line) != "cancelled" || FAULT',
    tests=["ReplayTests"])
scenario.add(
    "far-fetched", "Values/Suggestion.swift", "anything is suggested for any mistake",
    "best.distance <= max(1, min(wanted.count, best.name.utf8.count) / 3) else",
    "best.distance <= (FAULT ? 99 : max(1, min(wanted.count, best.name.utf8.count) / 3)) else", tests=["RefusalTests"])
scenario.add(
    "floor-above-ceiling", "Values/LatencyValues.swift", "a floor above the ceiling is taken",
    "floor > ceiling {", "floor > ceiling, !FAULT {", tests=["RefusalTests"])
scenario.add(
    "both-faults", "Values/FaultValues.swift", "a fault may be immediate and after so many bytes",
    "if draft.isImmediate, draft.after != nil {", "if draft.isImmediate, draft.after != nil, !FAULT {",
    tests=["RefusalTests"])

commands = Part("Sources/DatalessCommands", ["^DatalessControlTests\\."])
commands.add(
    "failed-shown-as-ok", "Log/LogTable.swift", "failures are not coloured", 'row.isBad = row.outcome != "ok"',
    'row.isBad = row.outcome != "ok" && !FAULT', tests=["LogViewTests"])
commands.add(
    "longest-is-first", "Log/LogTable.swift", "`log` shows the first wait of an attempt, not the longest",
    'waiters.compactMap { $0.integer("blocked_ns") }.max())',
    'FAULT ? waiters.compactMap { $0.integer("blocked_ns") }.first : waiters.compactMap { $0.integer("blocked_ns") }.max())',
    tests=["LogViewTests"])
commands.add(
    "gate-timeout-is-failure", "Gates/GateWaitCommand.swift", "`gate wait` that timed out ends with 1",
    "shows who is there.\", status: .timedOut)", "shows who is there.\", status: FAULT ? .failure : .timedOut)",
    tests=["CommandLineTests"], mounts=["RealMounts/Gates/"])
commands.add(
    "half-a-millisecond-is-none", "Gates/GateWaitCommand.swift", "`gate wait --timeout 100us` does not wait",
    "(timeout.nanoseconds + 999_999) / 1_000_000", "(timeout.nanoseconds + (FAULT ? 0 : 999_999)) / 1_000_000",
    equivalent="a wait of nothing and one of a millisecond look the same")
commands.add(
    "count-of-zero", "Gates/GateReleaseCommand.swift", "`gate release --count 0` is taken", "if let count, count < 1 {",
    "if let count, count < (FAULT ? 0 : 1) {", tests=["CommandLineTests"])
commands.add(
    "usage-error-is-status", "DatalessCommand.swift", "a usage error of `run` ends with 2, as the command might",
    'let passesStatusOn = subcommand == "run" ||', 'let passesStatusOn = (subcommand == "run" && !FAULT) ||',
    tests=["CommandLineTests"])

commands.add(
    "not-executable-is-not-found", "RunStatus.swift", "a command without the right to execute it is 127",
    "return number == ENOENT ? .notFound : .notExecutable", "return number == ENOENT || FAULT ? .notFound : .notExecutable",
    tests=["RunStatusTests"], mounts=["RealMounts/Running/"])
commands.add(
    "attempts-under-way-pass", "RunStatus.swift", "a budget holds although attempts of the command go on",
    "(budget?.inFlight ?? 0) > 0)", "((budget?.inFlight ?? 0) > 0 && !FAULT))", tests=["RunStatusTests"])
commands.add(
    "source-taken-for-file", "DatalessCommand.swift", "`run --json SOURCE` does not say what became of SOURCE",
    'return isDirectory || taken.starts(with: "synthetic:".utf8) ? taken : nil',
    'return !FAULT && (isDirectory || taken.starts(with: "synthetic:".utf8)) ? taken : nil',
    mounts=["RealMounts/RunLeftovers/"])
commands.add(
    "outsiders-unnamed", "RunCommand.swift", "who holds the volume and is no child of the command is not named",
    "wait.outsiders = session.outsiders(waiting: callers)",
    "if !FAULT { wait.outsiders = session.outsiders(waiting: callers) }", mounts=["RealMounts/RunLeftovers/"])
commands.add(
    "reader-is-always-there", "Output/ReaderWatch.swift", "`log --follow | head` does not end before the next record",
    "polled.revents & Int16(POLLERR | POLLHUP) != 0", "polled.revents & Int16(POLLERR | POLLHUP) != 0 && !FAULT",
    tests=["OutputTests"])

comparisons = Part("Sources/DatalessReports", ["^DatalessReportsTests\\."])
comparisons.add(
    "cut-log-is-a-pass", "Difference/DifferenceCondition.swift", "`diff --fail-on` passes where the second log is cut",
    "failure == nil ? difference.after.isComplete : difference.before.isComplete",
    "failure == nil ? FAULT || difference.after.isComplete : difference.before.isComplete", tests=["DifferenceTests"])
comparisons.add(
    "missing-is-gone", "Difference/DifferenceText.swift", "what a log lacks that is cut is said to be gone",
    'difference.after.isComplete ? "gone"', 'FAULT || difference.after.isComplete ? "gone"', tests=["DifferenceTests"])

PARTS = [scenario, commands, comparisons]
