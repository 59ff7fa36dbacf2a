"""The commands of README.md are the ones that run here.

A line `<!-- tested -->` before a fenced sh block marks it. The blocks run one after another in a folder that looks
like the project after `make build`; `make` lines are only asked whether their targets exist, or this test would
run itself.
"""
import os
import pathlib
import re
import shutil
import tempfile
import unittest

import project


def tested_blocks(text):
    return re.findall(r"^<!-- tested -->\n```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def make_targets(block):
    """(targets of the lines that call make, the block without these lines)"""
    lines = block.splitlines(keepends=True)
    calls = [line for line in lines if re.match(r"\s*make\s", line)]
    targets = [word for line in calls for word in line.split("#")[0].split()[1:] if "=" not in word]
    return targets, "".join(line for line in lines if line not in calls)


class Readme(unittest.TestCase):
    def test_every_tested_block_runs(self):
        blocks = tested_blocks(project.text(pathlib.Path("README.md")))
        targets, scripts = [], []
        for block in blocks:
            found, script = make_targets(block)
            targets += found
            scripts.append(script)
        self.assertIn("demo", targets, "README.md shows `make demo` in a tested block")
        self.assertIn("test", targets, "README.md shows `make test` in a tested block")
        for target in targets:
            project.run("make", "-n", "-C", project.source, target)

        folder = pathlib.Path(tempfile.mkdtemp(prefix="stickslip-readme-"))
        self.addCleanup(shutil.rmtree, folder)
        for path in project.source.iterdir():
            if path.name not in ("build", "runs", ".git"):
                (folder / path.name).symlink_to(path)
        (folder / "build").mkdir()
        (folder / "build/stickslip").symlink_to(project.build / "bin/stickslip")
        for script in scripts:
            if script.strip():
                project.run("sh", "-eu", "-c", script, cwd=folder)

    def test_blocks_and_targets_are_found_in_a_sample(self):
        sample = "a\n<!-- tested -->\n```sh\nmake demo   # first\nls\n```\n```sh\nmake other\n```\n"
        blocks = tested_blocks(sample)
        self.assertEqual(blocks, ["make demo   # first\nls\n"])
        self.assertEqual(make_targets(blocks[0]), (["demo"], "ls\n"))
        with self.assertRaises(AssertionError):
            project.run("make", "-n", "-C", project.source, "no-such-target")


if __name__ == "__main__":
    unittest.main(verbosity=2)
