"""Tests that README.md and the documents beside it are correct: their lists are printed by the
programs, their commands are run, in the order of the text.

    SEXTANT=build/sextant python3 tools/docs/readme_test.py
"""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import numpy

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("SEXTANT", "build/sextant")).resolve()


def blocks(document, language=""):
    """The texts of the fenced blocks in a language."""
    fences = re.findall(r"^```(\w*)\n(.*?)^```$", (ROOT / document).read_text(), re.M | re.S)
    return [text for name, text in fences if name == language]


def save_tensors(folder):
    """x.npy, position.npy and y.npy of rope pairing=half base=500000."""
    angle = numpy.arange(3)[:, None] * 500000.0 ** (-numpy.arange(4) / 4)
    cos, sin = numpy.cos(angle), numpy.sin(angle)
    # In f32: with AVX-512, numpy's functions of f64 err by several ulps.
    x = numpy.ones((1, 2, 3, 8), numpy.float32)
    y = (x * numpy.concatenate([cos - sin, cos + sin], -1)).astype(numpy.float32)
    for name, tensor in {"x": x, "position": numpy.arange(3)[None], "y": y}.items():
        numpy.save(folder / f"{name}.npy", tensor)


class Readme(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for name in ("fixtures", "tools"):
            (self.folder / name).symlink_to(ROOT / name)
        (self.folder / "build").symlink_to(PROGRAM.parent)

    def run_line(self, command):
        return subprocess.run(command, shell=True, cwd=self.folder, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=300)

    def test_lists_the_operations(self):
        self.assertIn(self.run_line("build/sextant list").stdout, blocks("reference/CASES.md"))

    def test_lists_the_packages(self):
        listed = self.run_line("tools/setup --list").stdout
        self.assertIn(listed, blocks("tools/package/README.md"))

    def test_shows_the_output_of_the_first_commands(self):
        (session,) = blocks("README.md", "console")
        steps = re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", session, re.M)
        self.assertEqual(len(steps), 2)
        for command, expected in steps:
            result = self.run_line(command)
            self.assertEqual(result.stdout + result.stderr, expected, command)

    def test_every_command_succeeds(self):
        save_tensors(self.folder)
        for language in ("python", "cpp", "toml"):
            for text in blocks("README.md", language):
                name = re.match(r"(?:#|//) (\S+)\n", text)[1]
                (self.folder / name).write_text(text)
        commands = re.findall(r"^    ((?:build/sextant|c\+\+|PYTHONPATH=).*)$",
                              (ROOT / "README.md").read_text(), re.M)
        self.assertEqual(len(commands), 6)
        for command in commands:
            result = self.run_line(command)
            self.assertEqual(result.returncode, 0, f"{command}\n{result.stdout}{result.stderr}")

    def test_python_serves_as_the_documents_write_it(self):
        """Every call of `serve`, with this function in its dictionary."""
        program = ("import sys\nsys.path.insert(0, 'build/python')\nimport numpy, sextant\n"
                   "def softmax(x):\n    e = numpy.exp(x - x.max(-1, keepdims=True))\n"
                   "    return e / e.sum(-1, keepdims=True)\n")
        for document in ("README.md", "tools/cli/README.md", "tools/adapters/README.md", "tools/python/README.md"):
            calls = re.findall(r"\bserve(\(\{.*?\}.*?\))", (ROOT / document).read_text())
            self.assertEqual(len(calls), 1, document)
            served = re.sub(r"\{.*\}", "{'softmax': softmax}", calls[0])
            (self.folder / "mine.py").write_text(f"{program}sextant.serve{served}\n")
            result = self.run_line("build/sextant check 'softmax N=2 M=3' --subject 'exec:/usr/bin/python3 -B mine.py'")
            self.assertEqual(result.returncode, 0, f"{document}\n{result.stdout}{result.stderr}")


if __name__ == "__main__":
    unittest.main()
