"""Tests of `sextant properties --bitwise`: promises of equal bits, kept and broken in one row.

    SEXTANT=build/sextant python3 tools/cli/bitwise_test.py
"""

import pathlib
import shlex
import sys
import unittest

from program import ProgramTest

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Sums from left to right; BREAK changes one element.
START = f"""
import sys
sys.path.insert(0, {str(ROOT / "tools/adapters/python")!r})
import os
import numpy as np
from sextant_adapter import serve

def softmax(x):
    y = np.exp(x - x.max(-1, keepdims=True))
    total = np.zeros(x.shape[:-1] + (1,), x.dtype)
    for i in range(x.shape[-1]):
        total += y[..., i : i + 1]
    y = y / total
    def change(row):
        y[row, 1] = np.nextafter(y[row, 1], np.float32(2))
    BREAK
    return y.astype(x.dtype)

"""
SERVE = 'serve({"softmax": softmax}, bitwise=PROMISES)\n'
CASE = "softmax N=6 M=8"


class Bitwise(ProgramTest):
    def check(self, change, *options, promises=()):
        source = START.replace("BREAK", change) + SERVE.replace("PROMISES", repr(promises))
        self.path("mine.py").write_text(source)
        done = self.run_it("properties", CASE, "--seed", "3", *options, "--subject",
                           f"exec:{sys.executable} -B mine.py")  # fmt: skip
        self.output = done.stdout + done.stderr
        return done.returncode

    def test_a_subject_that_keeps_its_promises(self):
        self.assertEqual(self.check("pass", "--bitwise", promises=["run", "batch"]), 0, self.output)
        self.assertIn("holds   softmax/run: ", self.output)
        self.assertIn("holds   softmax/batch: ", self.output)
        self.assertNotIn("batch_size", self.output)
        self.assertIn("2 hold, 0 broken", self.output)

    def test_without_promises_all_are_checked(self):
        self.assertEqual(self.check("pass", "--bitwise"), 0, self.output)
        self.assertIn("holds   softmax/threads: ", self.output)
        self.assertIn("skipped softmax/decode: ", self.output)
        self.assertIn("the subject promises nothing, so all promises were checked", self.output)

    def test_each_promise_broken_in_one_row(self):
        broken = {
            "run": "if os.path.exists('run'): change(2)\n    open('run', 'w').close()",
            "batch": "for n in range(0, 6, 2): change(n) if x[n + 1, 0] > x[n, 0] else None",
            "batch_size": "if len(x) < 6: change(0)",
            "threads": "if len(os.sched_getaffinity(0)) == 1: change(4)",
        }
        for promise, change in broken.items():
            with self.subTest(promise):
                if promise == "threads" and len(__import__("os").sched_getaffinity(0)) == 1:
                    self.skipTest("the machine has one processor")
                self.assertEqual(self.check(change, f"--bitwise={promise}"), 1, self.output)
                self.assertIn(f"BROKEN  softmax/{promise}: ", self.output)
                self.assertRegex(self.output, r"y\[\d,1\]: 0x3[0-9a-f]{7} \([0-9.e-]+\) and 0x3[0-9a-f]{7} ")
                self.assertIn("counterexample: softmax M=8 N=6 dtype=f32 seed=1", self.output)

    def test_a_case_that_cannot_run_hides_no_other_one(self):
        change = "if len(x) == 3: raise ValueError('three rows')"
        self.assertEqual(self.check(change, "--bitwise=run", "softmax N=3 M=8"), 3, self.output)
        self.assertIn("no run  softmax/run: ", self.output)
        self.assertIn("three rows", self.output)
        self.assertEqual(self.check(change, "--bitwise=run,threads", "softmax N=3 M=8"), 3, self.output)
        self.assertEqual(self.output.count("Traceback"), 1)  # each promise names the case
        self.assertEqual(self.check(change, "--bitwise=run", "softmax N=3 M=8"), 3, self.output)
        self.assertIn("  2 other comparisons found no difference\n", self.output)
        self.assertEqual(self.check(change, "--bitwise=run", "softmax N=3 M=8", "--exclude", "N=3"), 0, self.output)
        self.assertEqual(self.check(change, "--bitwise=run", "--with", "N=3"), 3, self.output)
        self.assertEqual(self.check(change, "--with", "N=3"), 2, self.output)
        self.assertIn("--with requires --bitwise", self.output)

    # Of more than six rows some are asked, and only one in eight is wrong alone.
    def test_a_broken_promise_says_how_to_repeat_it(self):
        change = "if len(x) == 1 and int(abs(x[0, 0]) * 1000) % 8 == 0: change(0)"
        self.assertEqual(self.check(change, "--bitwise=batch,batch_size", "softmax N=100 M=8",
                                    "--filter", "N=100"), 1, self.output)
        repeat = next(line for line in self.output.splitlines() if line.startswith("  repeat: sextant "))
        again = self.run_it(*shlex.split(repeat)[2:])
        self.assertEqual(again.returncode, 1, again.stderr)
        self.assertIn("BROKEN  softmax/batch_size: ", again.stdout)

    def test_unknown_promises_are_refused(self):
        self.assertEqual(self.check("pass", "--bitwise=rows"), 2, self.output)
        self.assertIn("'rows' is no promise of equal bits, expected: run batch", self.output)
        self.assertEqual(self.check("pass", "--bitwise", promises=["rows"]), 3, self.output)
        self.assertIn("'rows' is no promise of equal bits", self.output)


if __name__ == "__main__":
    unittest.main()
