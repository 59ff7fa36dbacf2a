"""What must not be in our files: paths of one machine, hosts of registries, promises of later work, endless files."""
import pathlib
import re
import unittest

import project

# Written in two pieces, so that this file does not find itself.
words = [
    ("unfinished work", r"(?i)\b(to" r"do|fix" r"me|xx" r"x|st" r"ubs?|place" r"holders?)\b|(?i:not imple" r"mented)"),
    ("path of a machine", r"(?<![\w.~)}\]$])/(?:wo" r"rk|ho" r"me|ro" r"ot|fa" r"rm|Us" r"ers)/"),
    ("host of a registry", r"(?i)registry\.np" r"mjs|py" r"pi\.org|python" r"hosted|deb\.deb" r"ian\.org|crates\.i" r"o|ghcr\.i" r"o|dock" r"er\.io"),
    ("talk about how it was made", r"(?i)sub-?ag" r"ent|helper se" r"ssion|this se" r"ssion"),
]
longest = 600  # lines; beyond that a file holds more than one idea
may_be_long = {".json", ".csv", ".yaml", ".bib", ".svg", ".lock"}  # data


def complaints(path, text):
    wrong = []
    for number, line in enumerate(text.splitlines(), 1):
        for what, pattern in words:
            if re.search(pattern, line):
                wrong.append(f"{path}:{number}: {what}: {line.strip()[:100]}")
    count = text.count("\n")
    if count > longest and path.suffix not in may_be_long:
        wrong.append(f"{path}: {count} lines, more than {longest}")
    return wrong


class Files(unittest.TestCase):
    def test_no_file_holds_what_it_must_not(self):
        wrong, count = [], 0
        for path in project.files():
            if path.name == "LICENSE":
                continue
            text = project.text(path)
            if text is None:
                continue
            count += 1
            wrong += complaints(path, text)
        self.assertGreater(count, 20, "hardly any files found: does the search still work?")
        self.assertFalse(wrong, "\n" + "\n".join(wrong))

    def test_seeded_faults_are_noticed(self):
        path = pathlib.Path("src/a.cpp")
        for line in ["// TO" "DO later", "a st" "ub of it", "cd /wo" "rk/main", '"/ho' 'me/me/x"', "https://py" "pi.org/x",
                     "not imple" "mented"]:
            self.assertEqual(len(complaints(path, line + "\n")), 1, line)
        self.assertEqual(len(complaints(path, "x\n" * 601)), 1)
        for line in ["a stubborn body", "net/wo" + "rk/x", "../ho" + "me/x", "${top}/ro" + "ot/x", "the wo" + "rk/energy balance"]:
            self.assertFalse(complaints(path, line + "\n"), line)
        self.assertFalse(complaints(pathlib.Path("tests/data/a.json"), "x\n" * 601))

    def test_generated_things_are_not_tracked(self):
        ignored = project.text(pathlib.Path(".gitignore")).split()
        self.assertIn("/build/", ignored)
        self.assertIn("/runs/", ignored)
        built = [str(path) for path in project.files() if path.suffix in (".o", ".a", ".so", ".pyc")]
        self.assertFalse(built)


if __name__ == "__main__":
    unittest.main(verbosity=2)
