"""Tests of the limits of third-party subjects, and of the sandbox that PROTOCOL.md shows.

    SEXTANT=build/sextant python3 tools/cli/subject_limits_test.py
"""

import json
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import unittest

from program import ProgramTest

ROOT = pathlib.Path(__file__).resolve().parents[2]

SOURCE = f"""
import sys
sys.path.insert(0, {str(ROOT / "tools/adapters/python")!r})
import os, resource, socket
import numpy as np
from sextant_adapter import serve

def softmax(x):
    TRICK
    y = np.exp(x - x.max(-1, keepdims=True))
    return (y / y.sum(-1, keepdims=True)).astype(x.dtype)

serve({{"softmax": softmax}})
"""
BWRAP = re.search(r"exec:(bwrap [^']*) \./mine'", (ROOT / "oracle/subject/PROTOCOL.md").read_text())[1].split()


class Limits(ProgramTest):
    def check(self, trick, *options, before=""):
        self.path("mine.py").write_text(SOURCE.replace("TRICK", trick))
        done = self.run_it("check", "softmax N=2 M=4", "--json", "r.json", *options, "--subject",
                           f"exec:{before} {sys.executable} -B mine.py")  # fmt: skip
        self.output = done.stdout + done.stderr
        return done.returncode

    def test_memory_is_limited(self):
        hungry = "np.ones(1 << 28)"  # 2 GiB
        self.assertEqual(self.check(hungry), 0, self.output)
        self.assertEqual(self.check(hungry, "--subject-memory", "1000"), 3, self.output)
        self.assertIn("it reported an error: ", self.output)
        self.assertIn("MemoryError", self.output)
        self.assertTrue(json.loads(self.path("r.json").read_text())["limits"].startswith("1000 MiB of memory, "))

    def test_a_program_with_a_sanitizer_runs(self):
        self.path("a.c").write_text("int main(void) { return 7; }")
        subprocess.run(["cc", "-fsanitize=address", "a.c", "-o", "a"], cwd=self.folder.name, check=True)
        done = self.run_it("check", "softmax N=2 M=4", "--subject", "exec:./a")
        self.assertIn("it exited with status 7", done.stderr)

    def test_files_are_limited_and_no_core_is_left(self):
        trick = "assert resource.getrlimit(resource.RLIMIT_%s)[1] == %d"
        self.assertEqual(self.check(trick % ("FSIZE", 1 << 36)), 0, self.output)
        self.assertEqual(self.check(trick % ("CORE", 0)), 0, self.output)
        self.assertEqual(self.check(trick % ("CORE", 1)), 3, self.output)

    def test_the_report_says_that_subjects_in_this_program_have_none(self):
        self.run_it("check", "softmax N=2 M=4", "--json", "r.json", "--subject", "fast")
        self.assertIsNone(json.loads(self.path("r.json").read_text())["limits"])

    def test_the_sandbox_of_the_protocol(self):
        if not shutil.which("bwrap") or subprocess.run([*BWRAP, "true"], capture_output=True).returncode != 0:
            self.skipTest("this machine has no bubblewrap, or does not permit it")
        before = " ".join(BWRAP)
        self.assertEqual(self.check("import tempfile; tempfile.TemporaryFile()", before=before), 0, self.output)
        kept = self.path("kept")
        self.assertEqual(self.check(f"open({str(kept)!r}, 'w')", before=before), 3, self.output)
        self.assertFalse(kept.exists())
        process = f"os.kill({self.pid()}, 0)"
        server = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(server.close)
        network = f"socket.create_connection({server.getsockname()}, 5)"
        for trick, error in ((process, "ProcessLookupError"), (network, "ConnectionRefusedError")):
            self.assertEqual(self.check(trick), 0, self.output)
            self.assertEqual(self.check(trick, before=before), 3, self.output)
            self.assertIn(error, self.output)

    def pid(self):
        """Of a process outside of the sandbox."""
        outside = subprocess.Popen(["sleep", "60"])
        self.addCleanup(outside.wait)
        self.addCleanup(outside.kill)
        return outside.pid


if __name__ == "__main__":
    unittest.main()
