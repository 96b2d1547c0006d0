import os
import tempfile
import unittest

import comparison
import straced


def reads_of(*logs, start="/out"):
    """`logs`: lines of process 1, 2, ..."""
    with tempfile.TemporaryDirectory() as folder:
        for number, lines in enumerate(logs, 1):
            with open(os.path.join(folder, f"calls.{number}"), "w", encoding="utf-8") as file:
                file.write("\n".join(lines) + "\n")
        reads = straced.Reads(start)
        reads.add(folder)
    return reads


class CallTests(unittest.TestCase):
    def test_each_way_to_read(self):
        for line in ('read(3</t/a>, "x", 10) = 1', 'pread64(3</t/a>, "x", 9, 0) = 1',
                     'readv(3</t/a>, [{iov_base="x", iov_len=9}], 1) = 1',
                     "copy_file_range(3</t/a>, NULL, 4</o/a>, NULL, 9, 0) = 9",
                     "sendfile(4</o/a>, 3</t/a>, NULL, 9) = 9",
                     "splice(3</t/a>, NULL, 4<pipe:[1]>, NULL, 9, 0) = 9", 'preadv2(3</t/a>, [], 1, 0, 0) = 7'):
            with self.subTest(line=line):
                self.assertEqual(reads_of([line]).read, {"/t/a"})

    def test_an_end_or_an_error_is_no_read(self):
        reads = reads_of(['read(3</t/a>, "", 10) = 0', "read(3</t/b>, 0x7ff, 10) = -1 EIO (Input/output error)"])
        self.assertEqual(reads.read, set())

    def test_mappings_and_listings(self):
        reads = reads_of(["mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, 3</t/a>, 0) = 0x7f00",
                          "getdents64(4</t/d>, 0x5 /* 3 entries */, 32768) = 72",
                          "mmap(NULL, 8192, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x7f11"])
        self.assertEqual((reads.mapped, reads.listed), ({"/t/a"}, {"/t/d"}))

    def test_content_that_looks_like_a_call_is_none(self):
        reads = reads_of(['read(3</t/a>, "read(5</t/b>, \\"x\\", 1) = 1", 99) = 24',
                          'write(1</t/c>, "4</t/d>", 7) = 7'])
        self.assertEqual(reads.read, {"/t/a"})
        self.assertEqual(reads.looked, set())

    def test_children_begin_where_their_parents_are(self):
        reads = reads_of(['chdir("/t") = 0', "clone(child_stack=NULL, flags=SIGCHLD) = 2"],
                         ['open("d/a", O_RDONLY) = 3</t/d/a>'])
        self.assertIn(("/t/d/a", True), reads.looked)

    def test_descriptors_are_where_relative_paths_begin(self):
        reads = reads_of(['newfstatat(5</t/d>, "a", {st_mode=S_IFREG}, AT_SYMLINK_NOFOLLOW) = 0',
                          'openat(AT_FDCWD</t>, "b", O_RDONLY) = 3</t/b>',
                          'faccessat(AT_FDCWD</t>, "c\\303\\244", R_OK) = -1 ENOENT (No such file or directory)'])
        self.assertEqual({path for path, _ in reads.looked}, {"/t/d/a", "/t/b", "/t/c\xc3\xa4"})


class LookupTests(unittest.TestCase):
    def test_links_lead_elsewhere(self):
        with tempfile.TemporaryDirectory() as root:
            root = os.path.realpath(root)
            os.makedirs(f"{root}/a/b")
            os.makedirs(f"{root}/links")
            os.symlink("../a/b", f"{root}/links/to")
            self.assertEqual(straced.folders_of(f"{root}/links/to/x", True, root)[0],
                             {root, f"{root}/links", f"{root}/a", f"{root}/a/b"})
            self.assertEqual(straced.folders_of(f"{root}/links/to", False, root)[0], {root, f"{root}/links"})
            self.assertEqual(straced.folders_of(f"{root}/gone/x", True, root)[0], {root})


class Contents:
    files, directories = {"a", "b", "c"}, {".", "d"}

    @staticmethod
    def one_name(path):
        return {"hard": "a"}.get(path, path)


class ComparisonTests(unittest.TestCase):
    def compare(self, files, folders, read=(), mapped=(), listed=(), looked=(), reason=""):
        case = {"file_names": files, "directory_names": folders}
        sets = {"read": set(read), "mapped": set(mapped), "listed": set(listed)}
        return comparison.compare(case, sets, set(looked), Contents, reason)

    def test_what_agrees(self):
        self.assertEqual(self.compare(["a"], ["."], read=["hard"], listed=["."]), ([], []))
        self.assertEqual(self.compare(["b"], "all", mapped=["b"], listed=["."], looked=["d"]), ([], []))

    def test_each_difference_is_said(self):
        for difference in (self.compare(["a"], "none"), self.compare("none", "none", read=["a"]), self.compare("none",
                                                                                                               ["d"]),
                           self.compare("none", "none", listed=["d"]), self.compare("none", "none", looked=["."])):
            self.assertEqual((len(difference[0]), len(difference[1])), (0, 1))

    def test_a_reason_excuses_less_and_never_more(self):
        self.assertEqual([len(part) for part in self.compare("none", "none", read=["a"], reason="holes")], [1, 0])
        self.assertEqual([len(part) for part in self.compare(["a"], "none", reason="holes")], [0, 1])
