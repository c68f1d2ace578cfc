"""Tests that tools/report/README.md is correct: its sessions and its file of expectations are run.

    SEXTANT=build/sextant python3 tools/docs/ci_test.py
"""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = (ROOT / "tools/report/README.md").read_text()
PROGRAM = pathlib.Path(os.environ.get("SEXTANT", "build/sextant")).resolve()
CASES = "rope pairing=half H=1 S=4 D=4 dtype=bf16 @position=0,256,257,8191\nsoftmax N=1 M=3\n"


class ContinuousIntegration(unittest.TestCase):
    def test_shows_the_output_of_its_sessions(self):
        blocks = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.M | re.S)
        self.assertEqual([name for name, _ in blocks], ["console", "toml", "console", "console", "toml",
                                                          "toml", "yaml"])
        with tempfile.TemporaryDirectory() as folder:
            environment = {**os.environ, "PATH": f"{folder}/bin:{os.environ['PATH']}"}
            (pathlib.Path(folder) / "bin").mkdir()
            (pathlib.Path(folder) / "bin/sextant").symlink_to(PROGRAM)
            (pathlib.Path(folder) / "kernels.cases").write_text(CASES)
            for name, text in blocks:
                if name == "toml":
                    (pathlib.Path(folder) / "known.toml").write_text(text)
                if name != "console":
                    continue
                for command, expected in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", text, re.M):
                    result = subprocess.run(["sh", "-c", command], cwd=folder, env=environment,
                                            capture_output=True, text=True)
                    self.assertEqual((result.stdout.strip("\n") + "\n", result.stderr), (expected, ""), command)
            check = ["sextant", "check", "kernels.cases", "--supported-only", "--expect", "known.toml",
                     "--subject", "defect:rope/positions_in_bf16"]
            # The last file exempts the case, which fails.
            result = subprocess.run(check, cwd=folder, env=environment, capture_output=True, text=True)
            self.assertIn("known.toml:1: it is expected to be 'conforms', but is 'fails'", result.stdout)
            # The one before says that it may fail.
            (pathlib.Path(folder) / "known.toml").write_text(blocks[4][1])
            result = subprocess.run(check, cwd=folder, env=environment, capture_output=True, text=True)
            self.assertEqual((result.returncode, result.stderr), (0, ""), result.stdout)
            self.assertIn("2 cases: 1 as_expected, 1 unsupported", result.stdout)

    def test_names_every_option_of_check(self):
        text = subprocess.run([PROGRAM, "check", "--help"], capture_output=True, text=True).stdout
        for option in ("--supported-only", "--open-rows", "--strict", "--filter", "--exclude", "--fail-fast",
                       "--expect", "--write-expect", "--json", "--json-lines", "--junit"):
            self.assertIn(option, text)
            self.assertIn(option, PAGE)


if __name__ == "__main__":
    unittest.main()
