"""Tests of `sextant tolerance`.

    SEXTANT=build/sextant python3 tools/cli/tolerance_test.py
"""

import json
import unittest

from program import ProgramTest

CASE = "rms_norm N=8 M=64 dtype=bf16"


class Tolerance(ProgramTest):
    def grade(self, *options, case=CASE):
        result = self.run_it("tolerance", case, *options, "--json", "grade.json")
        self.assertIn(result.returncode, (0, 1, 5), result.stderr)
        (grade,) = json.loads(self.path("grade.json").read_text())
        self.assertEqual(grade["is_good"], result.returncode != 1)
        self.assertEqual(grade["text"], result.stdout)
        return grade, result.stdout

    def test_it_says_what_is_rejected_and_what_passes(self):
        grade, text = self.grade("--atol", "1e-3", "--rtol", "1e-3")
        self.assertRegex(text, r"may reject right answers of the recipe native in \d+ of 512 elements")
        self.assertIn(f"lets 0 of {len(grade['bugs'])} known bugs pass\n", text)
        smallest = grade["smallest"]
        grade, text = self.grade("--atol", str(smallest["atol"]), "--rtol", str(smallest["rtol"]))
        self.assertEqual(grade["may_reject"], 0)
        self.assertEqual(grade["smallest"], smallest)
        self.assertIn("rejects no right answer of the recipe native: y[", text)

    # The tolerance that is said to be needed is enough, and one a tenth smaller is not.
    def test_the_needed_atol_is_needed(self):
        needed = self.grade("--rtol", "1e-3")[0]["needed_atol"]
        self.assertEqual(self.grade("--rtol", "1e-3", "--atol", str(needed))[0]["may_reject"], 0)
        self.assertGreater(self.grade("--rtol", "1e-3", "--atol", str(needed * 0.9))[0]["may_reject"], 0)

    # A wrong answer that passes is a known bug; `defect:` gives the same answer.
    def test_bugs_that_pass_are_those_whose_answers_are_near(self):
        grade, _ = self.grade("--atol", "0.05", "--rtol", "0.05")
        passing = [bug["name"] for bug in grade["bugs"] if bug["passes"]]
        self.assertTrue(passing and len(passing) < len(grade["bugs"]))
        for bug in grade["bugs"][:6]:
            result = self.run_it("check", CASE, "--subject", f"defect:rms_norm/{bug['name']}")
            self.assertEqual(result.returncode, 1, bug["name"])

    def test_a_loose_recipe_needs_more(self):
        narrow, wide = (self.grade("--atol", "0", "--recipe", recipe)[0]["needed_atol"] for recipe in ("exact", "native"))
        self.assertLess(narrow, wide)

    def test_large_cases_are_graded_by_a_part(self):
        case = "softmax N=2048 M=512"
        grade, text = self.grade("--rtol", "1e-5", case=case)
        self.assertLess(grade["elements"], 2048 * 512)
        self.assertRegex(text, r"by a part: \d+ of 1048576 elements")
        self.assertIn("rejects no right answer in this part", text)

    def test_wrong_calls(self):
        for options, why in ((("--atol", "-1"), "expected at least 0"), (("--atol", "nan"), "--atol"),
                             (("--recipe", "no"), "recipe"), (("--rtol", ""), "--rtol")):
            result = self.run_it("tolerance", CASE, *options)
            self.assertEqual((result.returncode, result.stdout), (2, ""))
            self.assertIn(why, result.stderr)
        result = self.run_it("tolerance", "quantize N=2 A=1 G=16 M=16", "--atol", "1")
        self.assertEqual(result.returncode, 2)
        self.assertIn("no tolerance applies", result.stderr)
        self.assertIn("missing: --atol, --rtol", self.run_it("tolerance", CASE).stderr)
        result = self.run_it("tolerance", "softmax N=0 M=4", "--atol", "1")
        self.assertEqual(result.returncode, 4)
        self.path("a.cases").write_text(f"quantize N=2 A=1 G=16 M=16\n{CASE}\n")
        good = self.grade("--atol", "1")[0]["smallest"]
        result = self.run_it("tolerance", "a.cases", "--atol", str(good["atol"]), "--rtol", str(good["rtol"]))
        self.assertEqual(result.returncode, 5, result.stdout)
        self.assertIn("no tolerance applies", result.stdout)


if __name__ == "__main__":
    unittest.main()
