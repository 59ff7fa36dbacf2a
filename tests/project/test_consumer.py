"""A ten-line program of someone else builds against an installation and against our folder, and runs."""
import os
import pathlib
import shutil
import tempfile
import unittest

import project

launcher = os.environ.get("STICKSLIP_LAUNCHER", "")
consumer = project.source / "tests/project/consumer"
common = ["-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release"] + ([f"-DCMAKE_CXX_COMPILER_LAUNCHER={launcher}"] if launcher else [])


class Consumer(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="stickslip-consumer-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def build_and_run(self, *settings):
        tree = self.folder / "build"
        project.run("cmake", "-S", consumer, "-B", tree, *common, *settings)
        project.run("cmake", "--build", tree, "-j", os.cpu_count(), "--target", "consumer")
        said = project.run(tree / "consumer", env={"PATH": os.environ["PATH"]})
        self.assertEqual(said, "t = 0.5, x = 0.5\n")  # free flight at 1 m/s
        return tree

    def test_builds_with_find_package_after_the_installation_has_moved(self):
        first, moved = self.folder / "first", self.folder / "moved"
        project.run("cmake", "--install", project.build, "--prefix", first)
        first.rename(moved)
        self.build_and_run(f"-DCMAKE_PREFIX_PATH={moved}")
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
        if launcher:  # with the same flags, the compiled files of the main build come back from the cache
            tree = self.build_and_run(f"-DSTICKSLIP_FOLDER={project.source}", "-DSTICKSLIP_WERROR=ON")
        else:  # compiling all layers again takes minutes; the lowest one shows that folders and flags are right
            tree = self.folder / "build"
            project.run("cmake", "-S", consumer, "-B", tree, *common, f"-DSTICKSLIP_FOLDER={project.source}")
            project.run("cmake", "--build", tree, "--target", "stickslip_base", "CMakeFiles/consumer.dir/main.cpp.o")
        targets = project.run("cmake", "--build", tree, "--target", "help")
        self.assertNotIn("test_base", targets)  # our tests are not theirs


if __name__ == "__main__":
    unittest.main(verbosity=2)
