"""docs/stickslip.1 describes the commands and options that the command has, all of them and no others."""
import pathlib
import re
import unittest

import project


def options(text):
    return set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", text))


class Manual(unittest.TestCase):
    def setUp(self):
        self.command = project.build / "bin/stickslip"
        if not self.command.exists():
            self.skipTest("the command is not built here")
        self.manual = project.text(pathlib.Path("docs/stickslip.1")).replace("\\-", "-")
        self.manual = re.sub(r"\\f[BIR]", "", self.manual)

    def test_commands_and_options_are_those_of_the_help(self):
        top = project.run(self.command, "--help")
        commands = re.findall(r"^  (\w+) {2,}", top.split("Subcommands:")[1], re.MULTILINE)
        self.assertIn("run", commands)
        texts = [top] + [project.run(self.command, command, "--help") for command in commands]
        offered = set().union(*(options(text) for text in texts)) - {"--help"}
        self.assertEqual(offered, options(self.manual) - {"--help"})
        described = re.findall(r"^stickslip (\w+)", self.manual, re.MULTILINE)
        self.assertEqual(set(commands), set(described) & set(commands))

    def test_version_is_that_of_the_project(self):
        version = re.search(r"project\(stickslip VERSION (\S+)", project.text(pathlib.Path("CMakeLists.txt"))).group(1)
        self.assertIn(f"stickslip {version}", self.manual.splitlines()[0])
        self.assertIn(version, project.run(self.command, "--version"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
