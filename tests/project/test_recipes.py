"""The recipes of CONTRIBUTING.md are true: their files exist, and no kind of joint and no key of scene files stands in more files
of the program than its recipe says.

A word stands in a file if the code has it, comments aside, as a string of its own ("pitch") or quoted in a message ('pitch').
A key is looked for in src/scene, which alone knows keys, and as a member in the headers of scenes and edits. These two headers count as
one file, and so do the parts of the listing (src/scene/listing*.cpp): a key that several things have is a row of each.
Tests and what is made from the listing (tables in docs, schema, dictionary of the fuzz target) do not count. Kinds of
joints are looked for in all of src, include and cli, and those whose names are no everyday words in other words of the code too.
"""
import re
import unittest

import project

files_of_a_joint = 4  # made of existing pieces
files_of_a_key = 3

# Words of everyday English, or of C++, that code uses for other things than the joint.
everyday = {"fixed", "ball", "planar", "distance", "gear", "screw", "universal"}
# Keys that are also the names of things and of their maps in the listing, by which messages, reader and schema call them, and keys that
# --set and `include` treat by name.
words_of_things = {"body", "contacts", "force", "joint", "limits", "material", "pose", "record", "run",
                   "include", "joints", "pairs", "scheme", "solver", "step", "stickslip"}
scene_headers = ("include/stickslip/scene.hpp", "include/stickslip/edit.hpp")


def without_comments(text):
    """C++ without comments; strings stay."""
    return re.sub(r'("(?:\\.|[^"\\\n])*")|//[^\n]*|/\*.*?\*/', lambda m: m.group(1) or " ", text, flags=re.S)


def sources():
    """Path and code of every source file of the program."""
    for path in project.files():
        if path.parts[0] in ("src", "include", "cli") and path.suffix in (".cpp", ".hpp"):
            yield path.as_posix(), without_comments(project.text(path))


code = dict(sources())
strings = {path: re.findall(r'"((?:\\.|[^"\\\n])*)"', text) for path, text in code.items()}
listing = {path: text for path, text in code.items() if path.startswith("src/scene/listing")}


def quotes(path, word):
    return word in strings[path] or any(f"'{word}'" in text for text in strings[path])


def place(path):
    """Files that count as one."""
    if path in scene_headers:
        return "include/stickslip/scene.hpp, edit.hpp"
    return "src/scene/listing*.cpp" if path in listing else path


def joint_kinds():
    return re.findall(r'\.name = "([a-z-]+)"', code["src/model/joints/table.cpp"])


def keys():
    """The first column of every row of the listing, and the coordinates of joints."""
    rows = re.findall(r'\{\s*"([a-z_-]+)",\s*[a-z_]+,\s*(?:"|[a-z])', "\n".join(listing.values()))
    return sorted(set(rows))


class Recipes(unittest.TestCase):
    def test_joints_stand_in_few_files(self):
        kinds = joint_kinds()
        self.assertGreater(len(kinds), 10)
        for kind in kinds:
            word = re.compile(r"\b" + re.escape(kind).replace(r"\-", "[-_]") + r"\b")
            found = {place(path) for path in code
                     if quotes(path, kind) or kind not in everyday and word.search(code[path])}
            with self.subTest(joint=kind):
                self.assertLessEqual(len(found), files_of_a_joint, sorted(found))

    def test_keys_stand_in_few_files(self):
        names = keys()
        self.assertGreater(len(names), 80)
        for key in sorted(set(names) - words_of_things):
            member = re.compile(r"\b" + re.escape(key) + r"\b")
            found = {place(path) for path in code
                     if path.startswith("src/scene/") and quotes(path, key) or
                     path in scene_headers and member.search(code[path])}
            with self.subTest(key=key):
                self.assertLessEqual(len(found), files_of_a_key, sorted(found))

    def test_contributing_has_the_five_recipes_with_files_that_exist(self):
        page = project.text("CONTRIBUTING.md")
        tracked = {path.as_posix() for path in project.files()}
        for recipe in ("joint", "shape", "scheme", "solver", "scene key"):
            with self.subTest(recipe=recipe):
                found = re.search(rf"^### Add a {recipe}\n(.*?)(?=^##|\Z)", page, flags=re.S | re.M)
                self.assertTrue(found, "no such section")
                named = re.findall(r"`((?:src|include|tests|docs|cli)/[\w./*-]+)`", found.group(1))
                self.assertGreaterEqual(len(named), 2)
                for name in named:
                    pattern = re.compile(re.escape(name).replace(r"\*", "[^/]*") + r"(/.*)?$")
                    self.assertTrue(any(pattern.match(path) for path in tracked), name)


if __name__ == "__main__":
    unittest.main(verbosity=2)
