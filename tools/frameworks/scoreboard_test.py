"""Tests the scoreboard with reports written by hand.

  /usr/bin/python3 -B tools/frameworks/scoreboard_test.py
"""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import scoreboard


def case(line, status="conforms", grade="exact", worst=None, reason=None):
    worst = {"permitted": 1.0, **(worst or {"got": 1.0, "exact": 1.0, "error": 0.0})}
    tensors = [{"name": "y", "judged": 1, "worst": worst}] if grade else []
    return {"case": line, "status": status, "outcome": status, "grade": grade, "tensors": tensors,
            "causes": [], "expected": reason and {"reason": reason}}  # fmt: skip


def rows(*cases, other=()):
    reports = {"native": {"cases": [*other]}, "claim": {"cases": [*cases]}}
    return scoreboard.rows("mine", "1.0", "rope", "claim", reports)


class Ulps(unittest.TestCase):
    def test_counts_from_the_spacing_at_the_exact_value(self):
        worst = {"got": 3.0, "exact": 3.5, "error": 0.5}
        self.assertEqual(scoreboard.ulps(worst, "f32"), 0.5 * 2**22)
        self.assertEqual(scoreboard.ulps(worst, "f16"), 0.5 * 2**9)
        self.assertEqual(scoreboard.ulps(worst, "bf16"), 0.5 * 2**6)

    def test_zero_and_subnormal_numbers_have_the_smallest_spacing(self):
        self.assertEqual(scoreboard.ulps({"got": 2**-24, "exact": 0.0, "error": 2**-24}, "f16"), 1)
        self.assertEqual(scoreboard.ulps({"got": 0.0, "exact": 2**-20, "error": 2**-20}, "f16"), 16)

    def test_an_infinite_error_has_no_number(self):
        self.assertIsNone(scoreboard.ulps({"got": "inf", "exact": 1.0, "error": "inf"}, "f32"))

    def test_an_infinity_that_is_right_has_no_error(self):
        self.assertEqual(scoreboard.ulps({"got": "inf", "exact": "inf", "error": "nan"}, "f32"), 0)


class Rows(unittest.TestCase):
    def test_a_row_per_dtype_with_the_worst_grade(self):
        f32, f16 = rows(case("rope D=2 dtype=f32"), case("rope D=4 dtype=f32", grade="within recipe"),
                        case("rope D=2 dtype=f16", grade="faithful"))  # fmt: skip
        self.assertEqual((f32["dtype"], f32["cases"], f32["grade"]), ("f32", 2, "within recipe"))
        self.assertEqual((f16["dtype"], f16["cases"], f16["grade"]), ("f16", 1, "faithful"))

    def test_counts_what_is_not_judged(self):
        (row,) = rows(case("rope D=2 dtype=f32"), case("rope D=4 dtype=f32", "unsupported", None),
                      case("rope D=6 dtype=f32", "could_not_run", None, reason="refused"))  # fmt: skip
        self.assertEqual((row["cases"], row["unsupported"], row["not_run"]), (1, 1, 1))
        self.assertEqual([defect["reason"] for defect in row["defects"]], ["refused"])

    def test_an_element_for_which_anything_is_permitted_does_not_count(self):
        anything = {"got": "nan", "exact": 1.0, "error": "nan", "permitted": "inf"}
        off = {"got": 1.0, "exact": 1.5, "error": 2**-22}
        line = "rope D=2 dtype=f32"
        self.assertEqual(rows(case(line, worst=anything), case(line, worst=off))[0]["ulps"], 2)
        self.assertEqual(rows(case(line, worst=anything))[0]["ulps"], 0)
        self.assertIsNone(rows(case(line, worst={**anything, "permitted": 1.0}))[0]["ulps"])

    def test_an_element_that_is_chosen_does_not_count(self):
        code = {"got": 6.0, "exact": 5.9, "error": 0.1, "permitted": None}
        self.assertEqual(rows(case("quantize M=1 dtype=f32", worst=code))[0]["ulps"], 0)

    def test_a_tensor_may_have_a_dtype_of_its_own(self):
        scale = {"got": 1.0, "exact": 1.5, "error": 0.5}
        tensor = case("quantize dtype=bf16 dtype.scale=f8_e4m3fn", worst=scale)
        tensor["tensors"][0]["name"] = "scale"
        self.assertEqual(rows(tensor)[0]["ulps"], 4)
        tensor["case"] = "quantize dtype=bf16"
        self.assertEqual(rows(tensor)[0]["ulps"], 0.5 * 2**23)

    def test_no_row_without_a_judged_case(self):
        self.assertEqual(rows(case("rope D=2 dtype=f32", "unsupported", None)), [])

    def test_lists_the_recipes_by_which_every_judged_case_conforms(self):
        line, failing = "rope D=2 dtype=f32", case("rope D=2 dtype=f32", "fails", "fails")
        self.assertEqual(rows(case(line), other=[case(line)])[0]["conforms_to"], ["native", "claim"])
        self.assertEqual(rows(case(line), other=[failing])[0]["conforms_to"], ["claim"])
        self.assertEqual(rows(failing, other=[case(line)])[0]["conforms_to"], ["native"])

    def test_a_defect_has_its_reason_and_a_line_that_repeats_it(self):
        line = "rope D=2 dtype=f32"
        (row,) = rows(case(line, "fails", "fails", reason="adds in f16"))
        (defect,) = row["defects"]
        self.assertEqual((defect["outcome"], defect["reason"]), ("fails", "adds in f16"))
        self.assertEqual(defect["repeat"], f"tools/frameworks/run mine --case '{line}'")


class Markdown(unittest.TestCase):
    def test_a_table_and_each_reason_once(self):
        lines = ["rope D=2 dtype=f32", "rope D=4 dtype=f32"]
        worst = {"got": 1.0, "exact": 1.5, "error": 2**-22}
        table = rows(*(case(line, "fails", "fails", worst, "adds in f16") for line in lines))
        text = scoreboard.markdown(table, {"mine": "1.0"}, "2026-01-31")
        self.assertTrue(text.startswith(scoreboard.HEADING.format(date="2026-01-31") + "\n## mine (1.0)\n"), text)
        self.assertIn("| rope | f32 | 0 of 2 | fails | 2 | none |", text)
        self.assertEqual(text.count("adds in f16 (2 cases)"), 1)
        self.assertIn(f"\n\n      tools/frameworks/run mine --case '{lines[0]}'\n", text)

    def test_an_unexpected_failure_is_named(self):
        text = scoreboard.markdown(rows(case("rope D=2 dtype=f32", "fails", "fails")), {"mine": "1"}, "")
        self.assertIn("- UNEXPECTED (1 case)", text)

    def test_cases_that_do_not_run_are_counted(self):
        table = rows(case("rope D=2 dtype=f32"), case("rope D=4 dtype=f32", "could_not_run", None))
        self.assertIn("| 1, 1 not run |", scoreboard.markdown(table, {"mine": "1"}, ""))


if __name__ == "__main__":
    unittest.main()
