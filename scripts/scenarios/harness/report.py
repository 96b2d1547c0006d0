"""What a scenario found: promises of the volume, which decide, and verdicts on tools, which do not."""

RIGHT, WRONG, NOTE, SKIPPED = "right", "wrong", "note", "skipped"
ORDER = (WRONG, NOTE, RIGHT, SKIPPED)


class Report:
    """The findings of one scenario."""

    def __init__(self, number, title):
        self.number, self.title = number, title
        self.promises, self.verdicts, self.skipped = [], [], []
        self.seconds = 0.0

    def promise(self, text, kept, evidence=""):
        """Something the volume owes its callers. One that is broken fails the run."""
        self.promises.append({"promise": text, "kept": bool(kept), "evidence": str(evidence)[:300]})
        return bool(kept)

    def tool(self, name, verdict, text, case=None):
        """What a tool made of it. `case` is the part of the scenario; the same finding in several cases is one line."""
        self.verdicts.append({"tool": name, "verdict": verdict, "text": text, "case": case})

    def skip(self, what):
        """A part that could not be run; never counted as kept or right."""
        self.skipped.append(what)

    @property
    def broken(self):
        return [promise for promise in self.promises if not promise["kept"]]

    @property
    def volume(self):
        if self.broken:
            return "BROKEN"
        return "ok" if self.promises else "skipped"

    def lines(self):
        """The report as text: each promise once, each verdict of a tool once with the cases it holds for."""
        counts = {}
        for promise in self.promises:
            key = (promise["promise"], promise["kept"], promise["evidence"] if not promise["kept"] else "")
            counts[key] = counts.get(key, 0) + 1
        for (text, kept, evidence), count in counts.items():
            times = f" ({count} times)" if count > 1 else ""
            yield f"  volume    {'kept' if kept else 'BROKEN'}    {text}{times}" + (f": {evidence}" if evidence else "")
        for tool in self.tools():
            merged = {}
            for verdict in self.verdicts:
                if verdict["tool"] == tool:
                    merged.setdefault((verdict["verdict"], verdict["text"]), []).append(verdict["case"])
            for (verdict, text), cases in merged.items():
                named = ", ".join(case for case in cases if case)
                shown = verdict.upper() if verdict == WRONG else verdict
                yield f"  {tool:<9} {shown:<7} {named + ': ' if named else ''}{text}"
        for what in self.skipped:
            yield f"  skipped   {what}"

    def tools(self):
        return list(dict.fromkeys(verdict["tool"] for verdict in self.verdicts))

    def worst(self, tool):
        found = {verdict["verdict"] for verdict in self.verdicts if verdict["tool"] == tool}
        return next(verdict for verdict in ORDER if verdict in found)

    def row(self):
        """The line of the final table: tools by their worst verdict."""
        groups = []
        for verdict in ORDER:
            names = [tool for tool in self.tools() if self.worst(tool) == verdict]
            if names:
                groups.append(f"{verdict.upper() if verdict == WRONG else verdict}: {', '.join(names)}")
        groups += [f"not run: {what}" for what in self.skipped if not self.promises]
        return self.number, self.volume, self.title, "; ".join(groups)

    def cells(self):
        """The cells of a Markdown table: scenario, and the tools by their worst verdict."""
        groups = {verdict: [] for verdict in ORDER}
        for tool in self.tools():
            groups[self.worst(tool)].append(tool)
        shown = [", ".join(groups[verdict]) or "-" for verdict in (RIGHT, NOTE, WRONG)]
        return [f"{self.number} {self.title}", self.volume, *shown]

    def as_json(self):
        return {
            "scenario": self.number, "title": self.title, "volume": self.volume, "seconds": round(self.seconds, 3),
            "promises": self.promises, "tools": self.verdicts, "skipped": self.skipped,
        }


def markdown(reports, facts):
    """What docs/TOOLS.md shows of a run."""
    versions = ", ".join(f"{name} {version}" for name, version in sorted(facts["tools"].items()) if version)
    lines = [
        f"Linux {facts['kernel'].split('-')[0]}, {facts['processors']} processors, {facts['user']}; {versions}.", "",
        "| scenario | volume | right | with a note | wrong |", "|---|---|---|---|---|",
    ]
    return "\n".join(lines + [f"| {' | '.join(report.cells())} |" for report in reports]) + "\n"
