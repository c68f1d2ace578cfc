"""The base class of tests that run the program, each test in its own folder."""

import os
import pathlib
import subprocess
import tempfile
import unittest

PROGRAM = pathlib.Path(os.environ.get("SEXTANT", "build/sextant")).resolve()
ONE_CASE = "rms_norm N=1 M=2"


class ProgramTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def run_it(self, *arguments, **options):
        return self.run_any([PROGRAM, *arguments], **options)

    def run_any(self, command, **options):
        return subprocess.run(command, cwd=self.folder.name, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, **options)

    def files(self):
        return sorted(os.listdir(self.folder.name))

    def path(self, name):
        return pathlib.Path(self.folder.name) / name
