"""Tests of `sextant recipe`.

    SEXTANT=build/sextant python3 tools/cli/recipe_test.py
"""

import json
import unittest

from program import ProgramTest

ITERATED = "native frequency=f32:iterated"
CASES = ("rope pairing=half H=1 S=2 D=128 @position=0,0\n"
         "rope pairing=half H=1 S=3 D=128 @position=0,511,511\n"
         "rope pairing=half H=1 S=3 D=64 @position=0,600,8191\n")


class Recipe(ProgramTest):
    def recipe(self, *arguments):
        result = self.run_it("recipe", *arguments, "--json", "r.json")
        report = json.loads(self.path("r.json").read_text()) if self.path("r.json").exists() else {}
        return result, report

    # As ggml's rotary kernel answers.
    def test_says_how_frequencies_are_computed(self):
        self.path("a.cases").write_text(CASES)
        result, report = self.recipe("a.cases", "--subject", f"recipe:{ITERATED}",
                                     "--recipe", "native")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(report["recipe"]["text"], ITERATED)
        self.assertEqual(report["recipe"]["still_failing"], [])
        failing = report["fails_by_start"]
        self.assertEqual(len(failing["cases"]), 2)
        self.assertIn("position >= 511", failing["where"])
        self.assertIn(f"conforms by `{ITERATED}`; fails by native in 2 of 3 cases, all with S=3 at ",
                      result.stdout)
        check = self.run_it("check", "a.cases", "--subject", f"recipe:{ITERATED}",
                            "--recipe", "native")
        self.assertIn(f"\n  conforms by `{ITERATED}`", check.stdout)
        check = self.run_it("check", "a.cases", "--subject", f"recipe:{ITERATED}")
        self.assertEqual(check.returncode, 0, check.stdout)

    def test_names_what_failing_cases_have_in_common(self):
        self.path("a.cases").write_text("".join(
            f"softmax N=2 M={size} dtype={dtype}\n" for size in (7, 64)
            for dtype in ("f32", "f64", "bf16")))
        result, report = self.recipe("a.cases", "--subject", "recipe:*=f32 store=T",
                                     "--recipe", "native")
        self.assertEqual(report["fails_by_start"]["where"], " with dtype=f64")
        self.assertEqual(result.returncode, 0)

    # Bounds permit any order of a sum, and sums in bf16 permit anything: the bits tell.
    def test_tells_recipes_and_orders_of_sums_by_the_bits(self):
        for recipe in ("native sum=f32:pairwise", "native trig=bf16",
                       "native sum=bf16 scale=f16 weigh=bf16"):
            line = "rope_cos_sin layout=halves R=64 base=10000 S=2 @position=511,131071" \
                if "trig" in recipe else "rms_norm N=4 M=300"
            result, report = self.recipe(line, "--subject", f"recipe:{recipe}", "--recipe", "native")
            self.assertEqual(report["same_bits"]["recipe"], recipe)
            self.assertIn(f"the own answers of `{recipe}` have the same bits in all ", result.stdout)
            judged = "but by it too few elements could fail" not in result.stdout
            self.assertEqual(judged, "pairwise" in recipe, result.stdout)
        result, report = self.recipe("rms_norm N=4 M=300", "--subject", "recipe:native")
        self.assertEqual(report["order_of_sums"]["orders"], ["from left to right"])
        self.assertIn("it adds from left to right: no other order that was tried gives all bits of "
                      "1200 elements; `native sum=T:sequential` says it", result.stdout)
        result, report = self.recipe("rms_norm N=4 M=300", "--subject", "fast", "--recipe", "native")
        self.assertIsNone(report["same_bits"])

    def test_says_that_a_bug_is_no_recipe(self):
        result, report = self.recipe("rms_norm N=2 M=64", "--subject",
                                     "defect:rms_norm/mean_subtracted")
        self.assertEqual(result.returncode, 1)
        self.assertIsNone(report["recipe"])
        self.assertIn("no recipe with one or two changes explains it\n  fails: rms_norm",
                      result.stdout)

    # The weight is transposed. Sums in bf16 permit that.
    def test_names_the_bug_that_a_wide_recipe_permits(self):
        result, report = self.recipe("linear N=16 M=250 F=250 dtype=bf16", "--subject",
                                     "defect:linear/weight_transposed")
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertIn("likely cause: weight_transposed ", result.stdout)
        self.assertIn("weight_transposed", report["causes"])

    def test_nothing_is_judged_without_elements(self):
        result, _ = self.recipe("rope pairing=half H=1 S=0 D=8", "--subject", "fast")
        self.assertEqual(result.returncode, 5)

    def test_filters_cases_and_counts_unsupported_ones(self):
        self.path("a.cases").write_text(CASES)
        self.run_it("answer", CASES.splitlines()[2], "--subject", "fast", "-o", "a.h5")
        result, report = self.recipe("a.cases", "--subject", "files:a.h5")
        self.assertEqual((result.returncode, report["unsupported"]), (5, 2))
        result, report = self.recipe("a.cases", "--filter", "D=64", "--subject", "files:a.h5")
        self.assertEqual((result.returncode, len(report["cases"])), (0, 1))
        self.assertEqual(self.recipe("a.cases", "--filter", "D=9", "--subject", "fast")[0].returncode,
                         4)

    def test_refuses_a_wrong_recipe(self):
        result, _ = self.recipe("rms_norm N=2 M=64", "--subject", "fast", "--recipe", "nativ")
        self.assertEqual(result.returncode, 2)
        self.assertIn("there is no recipe 'nativ'", result.stderr)


if __name__ == "__main__":
    unittest.main()
