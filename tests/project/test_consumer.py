"""A ten-line program of someone else builds against an installation and against our folder, and runs."""
import os
import pathlib
import re
import shutil
import tempfile
import unittest

import project

consumer = project.source / "tests/project/consumer"
common = ["-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release"]


class Consumer(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="stickslip-consumer-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def run_consumer(self, tree):
        said = project.run(tree / "consumer", env={"PATH": os.environ["PATH"]})
        self.assertEqual(said, "t = 0.5, x = 0.5\n")  # free flight at 1 m/s

    def test_builds_with_find_package_after_the_installation_has_moved(self):
        first, moved = self.folder / "first", self.folder / "moved"
        project.run("cmake", "--install", project.build, "--prefix", first)
        first.rename(moved)
        tree = self.folder / "build"
        project.run("cmake", "-S", consumer, "-B", tree, *common, f"-DCMAKE_PREFIX_PATH={moved}")
        project.run("cmake", "--build", tree, "--target", "consumer")
        self.run_consumer(tree)
        shared = sorted(str(path.relative_to(moved)) for path in moved.rglob("*") if path.is_file())
        self.assertIn("include/stickslip/types.hpp", shared)
        self.assertFalse([name for name in shared if name.startswith("include/") and not name.startswith("include/stickslip/")])
        if (project.build / "bin/stickslip").exists():
            # the installed command, started from anywhere, finds the installed scenes
            self.assertIn("share/man/man1/stickslip.1", shared)
            self.assertIn("version", "version " + project.run(moved / "bin/stickslip", "--version", cwd=self.folder))
            scenes = sorted(path.stem for path in (moved / "share/stickslip/scenes").glob("*.yaml"))
            said = project.run(moved / "bin/stickslip", "list", "scenes", cwd=self.folder)
            self.assertTrue(scenes)
            for scene in scenes:
                self.assertIn(scene, said)

    def test_builds_with_add_subdirectory(self):
        tree = self.folder / "build"
        project.run("cmake", "-S", consumer, "-B", tree, *common, f"-DSTICKSLIP_FOLDER={project.source}")
        # Compiling all layers again takes minutes. The lowest one shows that folders and flags are right, and the archive of the
        # main build, made from the same sources, stands for the one that would be linked here.
        project.run("cmake", "--build", tree, "-j", os.cpu_count(), "--target", "stickslip_base",
                    "CMakeFiles/consumer.dir/main.cpp.o")
        link = project.run("ninja", "-C", tree, "-t", "commands", "-s", "consumer").splitlines()[-1]
        archive = tree / re.search(r"\S*libstickslip\.a", link).group(0)
        shutil.copy(project.build / "libstickslip.a", archive)
        project.run("sh", "-c", link, cwd=tree)
        self.run_consumer(tree)
        targets = project.run("cmake", "--build", tree, "--target", "help")
        self.assertNotIn("test_base", targets)  # our tests are not theirs


if __name__ == "__main__":
    unittest.main(verbosity=2)
