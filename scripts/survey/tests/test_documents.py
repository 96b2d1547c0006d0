import html.parser
import unittest

import case
import markdown
import memory
import page
import tools
import words


def entry(**cases):
    base = {"exit": "0", "files": 2, "directories": 1, "bytes": 2048, "share": 1, "file_names": ["a", "<script>|"],
            "directory_names": "all", "waits": 3, "main_thread": "all", "read": 50, "verdict": "whole", "needless": 0}
    return {"package": "p", "version": "1", "commands": {"all": 'x "$T" | y < z'}, "cases": {"all": base} | {
        name: base | more for name, more in cases.items()}}


FAULT = {"victim": "a", "tries": 1, "meanwhile": False, "printed": "<b>|\\ no", "names_file": True,
         "names_error": True}


class MemoryTests(unittest.TestCase):
    def test_nothing_changed_keeps_what_was_said(self):
        before = {"tools": {"x": entry()}, "changes": {"x": ["earlier"]}}
        self.assertEqual(memory.changes(before, {"tools": {"x": entry()}}, ["x"]), {"x": ["earlier"]})

    def test_changes_are_named(self):
        after = entry(refused=FAULT | {"exit": "SIGBUS"})
        after["version"] = "2"
        before = {"tools": {"x": entry(refused=FAULT)}, "changes": {}}
        self.assertEqual(memory.changes(before, {"tools": {"x": after, "y": entry()}}, ["x", "y"]),
                         {"x": ["version: 1, now 2", "refused: exit was 0, is SIGBUS"], "y": ["new in the survey"]})

    def test_chance_is_no_change(self):
        one, two = entry(slow=FAULT | {"frozen": "all"}), entry(slow=FAULT | {"frozen": "none", "tries": 3})
        self.assertEqual(memory.compared(one, two), [])
        self.assertEqual(memory.compared(one, entry(slow=FAULT | {"frozen": "all", "tries": 3})),
                         ["slow: tries was 1, is 3"])

    def test_the_text_is_json_again(self):
        import json
        results = {"format": 1, "changes": {}, "tools": {"b": entry(), "a": entry(refused=FAULT)}}
        self.assertEqual(json.loads(memory.text(results)), results)


class WordTests(unittest.TestCase):
    def test_how_a_tool_takes_a_fault(self):
        for more, text in (({}, "names the file, status 0"), ({"exit": "1"}, "names the file, status 1"),
                           ({"tries": 0}, "not read"),
                           ({"exit": "SIGBUS"}, "dies of SIGBUS"), ({"exit": "did not end"}, "hangs"),
                           ({"names_file": False, "names_error": False}, "file not named, status 0"),
                           ({"names_file": False, "printed": ""}, "says nothing, status 0"),
                           ({"exit": "1", "names_error": False}, "names the file, status 1; error not named"),
                           ({"tries": 30, "restored": "the file empty"},
                            "names the file, status 0; 30 tries; copy: the file empty")):
            self.assertEqual(words.fault({"exit": "0"} | FAULT | more), text)

    def test_losses_are_alarms(self):
        silent = FAULT | {"names_file": False, "names_error": False, "restored": "the file all zeros"}
        self.assertEqual(words.alarms(entry(refused=silent)),
                         ["refused: does not name the file, status 0; copy: the file all zeros"])
        self.assertEqual(words.alarms(entry(refused=FAULT | {"exit": "1", "restored": "the file missing"})), [])


class Balance(html.parser.HTMLParser):
    void = {"meta", "input"}

    def __init__(self):
        super().__init__()
        self.open, self.tags = [], set()

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        if tag not in self.void:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag


class DocumentTests(unittest.TestCase):
    results = {"format": 1, "changes": {"x": ["<i>"]}, "tools": {
        "x": entry(refused=FAULT, failing=FAULT), "<u>": entry(), "gone": {"package": "g", "missing": "not there"}}}

    def test_the_page_escapes_and_closes_all(self):
        text, parser = page.document(self.results), Balance()
        parser.feed(text)
        self.assertEqual(parser.open, [])
        self.assertFalse({"b", "i", "u"} & (parser.tags - {"b"}))
        self.assertIn("&lt;b&gt;|", text)
        self.assertNotIn("http", text.replace("http-equiv", ""))

    def test_cells_of_tables_stay_cells(self):
        for line in markdown.document(self.results).splitlines():
            if line.startswith("| x"):
                self.assertNotIn("<b>", line)
                self.assertIn(line.replace("\\|", "").count("|"), (9, 6, 3))

    def test_a_missing_tool_is_said(self):
        self.assertIn("| gone | not there |", markdown.document(self.results))


class ToolTests(unittest.TestCase):
    def test_each_tool_can_be_tried(self):
        for tool in tools.TOOLS.values():
            with self.subTest(tool=tool.name):
                self.assertTrue(case.command_of(tool, "all") or tool.part)
                self.assertTrue("$T" in (case.command_of(tool, "all") + tool.part))
                self.assertNotIn("@", case.command_of(tool, "all"))
                self.assertIn("$R", tool.restore or "$R")
