"""Pages of `stickslip report`, judged by a parser that is not ours: well-formed, self-contained, no numbers that are none."""
import pathlib
import re
import shutil
import tempfile
import unittest
import xml.etree.ElementTree as tree

import project

svg = "{http://www.w3.org/2000/svg}"


def numbers_of(path):
    return [float(x) for x in re.findall(r"-?\d+(?:\.\d+)?", path)]


class Report(unittest.TestCase):
    def setUp(self):
        self.command = project.build / "bin/stickslip"
        if not self.command.exists():
            self.skipTest("the command is not built here")
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="stickslip-report-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def page(self, *model):
        project.run(self.command, "run", *model, "--quiet", "--force", "-o", self.folder / "run")
        file = project.run(self.command, "report", self.folder / "run").strip()
        return pathlib.Path(file).read_text(encoding="utf-8")

    def check(self, text):
        root = tree.fromstring(text.replace("<!DOCTYPE html>", "", 1))
        for element in root.iter():
            self.assertNotIn(element.tag.split("}")[1], ("script", "link", "img", "image", "iframe", "use"))
            for name, value in element.attrib.items():
                self.assertNotIn(name.split("}")[-1], ("href", "src", "onload", "onclick"))
                if name in ("d", "x", "y", "width", "height", "cx", "cy", "r"):
                    self.assertNotRegex(value, "nan|inf|e")
        self.assertNotRegex(text, r"url\(|@import")
        # What is drawn lies inside its picture. Views cut themselves off at their own frame.
        for figure in root.iter(svg + "svg"):
            if "viewBox" not in figure.attrib:
                continue
            width, height = (float(x) for x in figure.attrib["viewBox"].split()[2:])
            for words in figure.findall(svg + "text"):
                self.assertTrue(-1 <= float(words.attrib["x"]) <= width + 1, words.text)
                self.assertTrue(-1 <= float(words.attrib["y"]) <= height + 1, words.text)
            for path in figure.findall(svg + "path"):
                if not re.search("[hvmz]", path.attrib["d"]):
                    values = numbers_of(path.attrib["d"])
                    self.assertLessEqual(max(values[0::2]), width + 1)
                    self.assertLessEqual(max(values[1::2]), height + 1)
                    self.assertGreaterEqual(min(values), -1)
        return root

    def test_pages_of_scenes_and_mechanisms(self):
        for model in ("scene:falling-box", "scene:four-bar", "mechanism:double-pendulum-wall"):
            with self.subTest(model=model):
                self.check(self.page(model))

    def test_a_faulty_page_is_noticed(self):
        text = self.page("scene:sliding-box", "--end", "0.1")
        self.check(text)
        for old, new in (("<h2>Motion</h2>", "<h2>Motion"), ("</body>", "<script>1</script></body>"), (' d="M', ' d="Mnan ')):
            self.assertIn(old, text)
            with self.assertRaises((AssertionError, tree.ParseError)):
                self.check(text.replace(old, new, 1))


if __name__ == "__main__":
    unittest.main(verbosity=2)
