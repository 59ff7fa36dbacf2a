"""scripts/write-paper-figures draws what docs/papers shows, with lines of ours and rings of the papers."""
import pathlib
import shutil
import tempfile
import unittest
import xml.etree.ElementTree

import project


class Figures(unittest.TestCase):
    def test_they_are_drawn_anew(self):
        command = project.build / "bin/stickslip"
        if not command.exists():
            self.skipTest("the command is not built here")
        folder = pathlib.Path(tempfile.mkdtemp(prefix="stickslip-figures-"))
        self.addCleanup(shutil.rmtree, folder)
        project.run(project.source / "scripts/write-paper-figures", "--command", command, "--output", folder)
        drawn = sorted(path.name for path in folder.iterdir())
        kept = sorted(path.name for path in (project.source / "docs/papers").glob("*.svg"))
        self.assertEqual(drawn, kept)
        page = project.text(pathlib.Path("docs/papers/index.md"))
        for name in drawn:
            self.assertIn(f"({name})", page)
            picture = xml.etree.ElementTree.parse(folder / name)
            circles = [c for c in picture.iter("{http://www.w3.org/2000/svg}circle")]
            rings = [c for c in circles if c.get("fill") == "none"]
            # Wherever the papers have a point, so have we.
            self.assertGreater(len(rings), 10, name)
            self.assertGreaterEqual(len(circles) - len(rings), len(rings) - 5, name)


if __name__ == "__main__":
    unittest.main()
