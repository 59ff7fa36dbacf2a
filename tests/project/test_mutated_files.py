"""Files that are wrong in a hundred ways get an answer: exit code 0, 1 or 2, in time, with words. .ci/run takes a thousand."""
import subprocess
import sys
import unittest

import project


class MutatedFiles(unittest.TestCase):
    def test_every_one_gets_an_answer(self):
        command = project.build / "bin/stickslip"
        if not command.exists():
            self.skipTest("the command is not built here")
        done = subprocess.run([sys.executable, "-B", project.source / "tests/checks/mutate_files.py", command,
                               "--count", "100", "--limit", "20"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
