"""Tests that README.md is correct: its lists are printed by the programs, its examples are run.

    SEXTANT=build/sextant python3 tools/docs/readme_test.py
"""

import os
import pathlib
import re
import shlex
import subprocess
import tempfile
import unittest

import numpy

ROOT = pathlib.Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()
PROGRAM = pathlib.Path(os.environ.get("SEXTANT", "build/sextant")).resolve()


def blocks(language=""):
    """The texts of the fenced blocks in a language."""
    fences = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.M | re.S)
    return [text for name, text in fences if name == language]


def run(command, **options):
    words = shlex.split(command)
    if words[0] == "build/sextant":
        words[0] = str(PROGRAM)
    return subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL, **options)


class Readme(unittest.TestCase):
    def test_lists_the_operations(self):
        self.assertIn(run("build/sextant list").stdout, blocks())

    def test_lists_the_packages(self):
        listed = subprocess.run([ROOT / "tools/setup", "--list"], capture_output=True, text=True).stdout
        self.assertIn(listed, blocks())

    def test_shows_the_python_example(self):
        self.assertEqual([(ROOT / "tools/adapters/python/example.py").read_text()], blocks("python"))

    def test_judges_the_python_example(self):
        command = re.search(r"^    (build/sextant check .*example\.py\")$", README, re.M)[1]
        self.assertEqual(run(command, cwd=ROOT).returncode, 0)

    def test_judges_tensors_of_ones_own(self):
        command = re.search(r"^    (build/sextant judge .*)$", README, re.M)[1]
        angle = numpy.arange(3)[:, None] * 500000.0 ** (-numpy.arange(4) / 4)
        x = numpy.ones((1, 2, 3, 8))
        y = numpy.concatenate([numpy.cos(angle) - numpy.sin(angle), numpy.cos(angle) + numpy.sin(angle)], -1)
        with tempfile.TemporaryDirectory() as folder:
            for name, tensor in {"x": x, "position": numpy.arange(3)[None], "y": x * y}.items():
                numpy.save(f"{folder}/{name}.npy", tensor)
            result = run(command, cwd=folder)
        self.assertEqual((result.returncode, result.stderr), (0, ""), result.stdout)

    def test_shows_the_output_of_the_first_minute(self):
        (session,) = blocks("console")
        steps = re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", session, re.M)
        self.assertGreater(len(steps), 3)
        with tempfile.TemporaryDirectory() as folder:
            for name in ("fixtures", "tools"):
                (pathlib.Path(folder) / name).symlink_to(ROOT / name)
            for command, expected in steps:
                result = run(command, cwd=folder)
                self.assertEqual(result.stdout + result.stderr, expected, command)


if __name__ == "__main__":
    unittest.main()
