import unittest

import names

EVERYTHING = {"a/1", "a/2", "a/b/3", "c", "d/4", "d/5"}


class PackTests(unittest.TestCase):
    def test_every_set_comes_back(self):
        import itertools
        for size in range(len(EVERYTHING) + 1):
            for paths in itertools.combinations(sorted(EVERYTHING), size):
                with self.subTest(paths=paths):
                    self.assertEqual(names.unpack(names.pack(set(paths), EVERYTHING), EVERYTHING), set(paths))

    def test_directories_come_back(self):
        folders = {".", "a", "a/b", "ab", "c"}
        for paths in ({"."}, {"a"}, {"a", "a/b"}, {"ab"}, {".", "c", "a/b"}, folders):
            self.assertEqual(names.unpack(names.pack(paths, folders), folders), paths)

    def test_whole_directories_have_one_name(self):
        self.assertEqual(names.pack({"a/1", "a/2", "a/b/3"}, EVERYTHING), ["a/"])
        self.assertEqual(names.pack(EVERYTHING - {"c"}, EVERYTHING), {"all but": ["c"]})
        self.assertEqual(names.pack(set(), EVERYTHING), "none")
        self.assertEqual(names.pack(EVERYTHING, EVERYTHING), "all")

    def test_an_unknown_path_is_kept(self):
        self.assertEqual(names.unpack(names.pack({"c", "elsewhere"}, EVERYTHING), EVERYTHING), {"c", "elsewhere"})


class TextTests(unittest.TestCase):
    def test_only_all_and_nothing_are_100_and_0_percent(self):
        self.assertEqual([names.percent(*pair) for pair in ((0, 9), (1, 9999), (9998, 9999), (9, 9), (1, 0))],
                         [0, 1, 99, 100, 0])

    def test_lines_have_no_places_and_times(self):
        line = names.plain("2026-01-02 03:04:05,678 /tmp/x.1/tree/a: took 1.25 s [4711] \x1b[1m0xdeadbeef",
                           {"/tmp/x.1/tree": "$T"})
        self.assertEqual(line, "TIME $T/a: took N s N HEX")

    def test_evidence_names_file_and_error(self):
        text = "a\ncp: error reading '/t/docs/guide.txt': Resource deadlock avoided\nlast"
        self.assertEqual(names.evidence(text, "", "docs/guide.txt", {"/t": "$T"}),
                         ("cp: error reading '$T/docs/guide.txt': Resource deadlock avoided", True, True))

    def test_a_file_that_is_merely_listed_is_no_evidence(self):
        self.assertEqual(names.evidence("", "adding docs/guide.txt\ndone", "docs/guide.txt", {}), ("", False, False))

    def test_content_is_no_evidence(self):
        self.assertEqual(names.evidence("Bus error\n", "stone\n\ufffd guide.txt: error", "docs/guide.txt", {}),
                         ("Bus error", False, False))
