"""Tests of `sextant check --adversarial`: what a program can see, its report, shards, wrong calls. Cheating
libraries: tools/host/cheating_test.py; functions: tools/python/computes_test.py.

    SEXTANT=build/sextant python3 tools/cli/adversarial_test.py
"""

import json
import os
import pathlib
import shutil
import unittest

from program import PROGRAM, ProgramTest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CASES = ["softmax N=2 M=4", "rms_norm N=2 M=3", "rope pairing=half H=1 S=2 D=4", "softmax N=3 M=5"]
NOBODY = "65534"

# What it can read of its parents, as the last line of seen.txt.
SPY = """
import os, sys
sys.path.insert(0, ".")
import numpy as np
from sextant_adapter import serve

def softmax(x):
    readable, pid = [], os.getppid()
    while pid > 1:
        for name in ("mem", "environ", "maps"):
            try:
                open(f"/proc/{pid}/{name}", "rb").close()
                readable.append((open(f"/proc/{pid}/comm").read().strip(), name))
            except OSError:
                pass
        pid = int(open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[1])
    open("seen.txt", "a").write(repr(readable) + "\\n")
    y = np.exp(x - x.max(-1, keepdims=True))
    return (y / y.sum(-1, keepdims=True)).astype(x.dtype)

serve({"softmax": softmax})
"""


class Adversarial(ProgramTest):
    def test_a_program_cannot_read_the_memory_of_this_one(self):
        is_root = os.getuid() == 0
        if is_root and not shutil.which("setpriv"):
            self.skipTest("root can read everything, and there is no setpriv to be another user")
        os.chmod(self.folder.name, 0o777)
        shutil.copy(PROGRAM, self.path("sextant"))
        shutil.copy(ROOT / "tools/adapters/python/sextant_adapter.py", self.path("sextant_adapter.py"))
        self.path("spy.py").write_text(SPY)
        as_user = ["setpriv", "--reuid", NOBODY, "--regid", NOBODY, "--clear-groups"] * is_root
        for option, can_read in (("--fresh", True), ("--adversarial", False)):
            self.path("seen.txt").unlink(missing_ok=True)
            done = self.run_any([*as_user, "./sextant", "check", CASES[0], option, "--subject",
                                 "exec:/usr/bin/python3 -B spy.py"])  # fmt: skip
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            of_program = {name for name in ("mem", "environ", "maps")
                          if str(("sextant", name)) in self.path("seen.txt").read_text()}  # fmt: skip
            self.assertEqual(of_program, {"mem", "environ", "maps"} if can_read else set())

    def test_the_report_says_the_seed_and_the_questions(self):
        done = self.run_it("check", *CASES, "--subject", "fast", "--adversarial=7", "--json", "r.json",
                           "--junit", "r.xml")  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        fresh = json.loads(self.path("r.json").read_text())["fresh"]
        self.assertEqual((fresh["seed"], fresh["cases"]), (7, 4))
        self.assertGreaterEqual(fresh["questions"], 4 * 16)
        self.assertIn(f"(--adversarial=7): 4 cases, {fresh['questions']} questions", done.stdout)
        self.assertIn('name="fresh" value="7"', self.path("r.xml").read_text())

    def test_shards_are_merged(self):
        for shard in ("1/2", "2/2"):
            done = self.run_it("check", *CASES, "--subject", "fast", "--adversarial=7", "--shard", shard,
                               "--json-lines", f"{shard[0]}.jsonl")  # fmt: skip
            self.assertEqual(done.returncode, 0, done.stderr)
        whole = self.run_it("check", *CASES, "--subject", "fast", "--adversarial=7").stdout
        merged = self.run_it("merge", "1.jsonl", "2.jsonl")
        self.assertEqual(merged.returncode, 0, merged.stderr)
        line = whole.splitlines()[-1]
        self.assertIn("questions", line)
        self.assertIn(line, merged.stdout)

    def test_a_failure_is_repeated_by_its_command(self):
        command = ("check", CASES[0], "--subject", "defect:softmax/base_2", "--adversarial=7")
        done = self.run_it(*command)
        if done.returncode == 2:
            self.fail(done.stderr)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("--adversarial=7 --subject", done.stdout)

    def test_wrong_calls_are_refused(self):
        for options, text in ((("--adversarial", "--fresh"), "excludes"),
                              (("--adversarial=x",), "x"),
                              (("--adversarial", "--write-expect", "e.toml"), "excludes")):  # fmt: skip
            done = self.run_it("check", CASES[0], "--subject", "fast", *options)
            self.assertEqual(done.returncode, 2, options)
            self.assertIn(text, done.stderr)
        done = self.run_it("check", CASES[0], "--subject", "files:a.h5", "--adversarial")
        self.assertIn("--adversarial asks new questions, to which files:a.h5 has no answers", done.stderr)


if __name__ == "__main__":
    unittest.main()
