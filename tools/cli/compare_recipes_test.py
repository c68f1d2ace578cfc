"""Tests of `sextant compare --recipes`.

    SEXTANT=build/sextant python3 tools/cli/compare_recipes_test.py
"""

import re
import unittest

from program import ProgramTest

CASE = "attention H=2 K=1 S=8 T=64 D=32 E=16 dtype=bf16"


class CompareRecipes(ProgramTest):
    def test_names_the_step_at_which_they_differ(self):
        trainer, server = "*=f32 store=T", "*=f32 score=bf16 store=T"
        done = self.run_it("compare", CASE, "--recipes", trainer, server)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"(?m)^    score: f32 -> bf16 +\d")
        part, whole = re.search(r"they differ at `score`: (\S+) of the (\S+) ulps \(99 %\)", done.stdout).groups()
        self.assertEqual(part, whole)

    def test_takes_files_of_cases_and_a_part_of_large_ones(self):
        self.path("own.cases").write_text(f"{CASE}\nrms_norm N=512 M=512\n")
        done = self.run_it("compare", "own.cases", "--recipes", "native", "f32_compute",
                           "--budget-elements", "4096")  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("  of 4096 of 262144 elements", done.stdout)
        self.assertIn("attention mask=none", done.stdout)

    def test_says_that_equal_recipes_are_equal(self):
        done = self.run_it("compare", CASE, "--recipes", "native", "native")
        self.assertIn("  no step changes a value here\n", done.stdout)

    def test_wrong_calls_are_refused(self):
        for arguments, text in ((("a.h5",), "compares two files or folders, got 1"),
                                ((CASE, "--recipes", "native", "nativ"), "did you mean 'native'"),
                                ((CASE, "--recipes", "native"), "--recipes")):  # fmt: skip
            done = self.run_it("compare", *arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn(text, done.stderr)


if __name__ == "__main__":
    unittest.main()
