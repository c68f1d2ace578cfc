"""Tests of `sextant check --html` in a browser.

    SEXTANT=build/sextant python3 tools/cli/check_page_test.py
"""

import json
import pathlib
import subprocess
import unittest

from browser import Page
from program import ProgramTest

PAGE = pathlib.Path(__file__).resolve().parents[1] / "pages/page"
CASES = "".join(f"rms_norm N=2 M=64 dtype={dtype}\n" for dtype in ("f32", "bf16"))
FILTER = """
const filter = document.getElementById("filter");
filter.text.value = "dtype=bf16 mean_sub";
filter.dispatchEvent(new Event("input"));
"""


class CheckPage(ProgramTest):
    def test_shows_verdicts_causes_and_expectations(self):
        self.path("a.cases").write_text(CASES + "softmax N=1 M=4\n")
        self.path("known.toml").write_text(
            '[[expect]]\ncases = "*dtype=f32*"\nreason = "a <known> bug"\n'
            'cause = "mean_subtracted"\n')
        result = self.run_it("check", "a.cases", "--subject", "defect:rms_norm/mean_subtracted",
                             "--filter", "rms_norm", "--expect", "known.toml", "--html", "r.html",
                             "--json", "r.json")
        self.assertEqual(result.returncode, 1, result.stderr)
        report = json.loads(self.path("r.json").read_text())
        page = Page(self.path("r.html"))
        page.assert_stands_alone(self)
        shown = json.loads(page.report)
        for case in shown["cases"]:
            self.assertIn("sextant check ", case.pop("repeat"))
        self.assertEqual(shown, report)
        counts = page.tables["counts"]
        self.assertEqual(dict(zip(counts[0], map(int, counts[1]))),
                         {key.replace("_", " "): n for key, n in report["counts"].items()})
        self.assertEqual(page.tables["causes"][1][:3], ["rms_norm", "mean_subtracted", "1 of 1"])
        self.assertIn("a &lt;known&gt; bug", page.text)
        self.assertIn("as expected", page.text)
        self.assertEqual(page.hidden, 0)

    def test_shows_the_recipe_and_how_wide_it_is(self):
        self.run_it("check", "softmax N=2 M=64 dtype=f64", "--subject", "recipe:*=f32 store=T",
                    "--recipe", "native", "--html", "r.html")
        page = Page(self.path("r.html"))
        self.assertRegex(page.text, "Conforms by <code>native softmax=f32</code>, which permits [0-9.e+]+ "
                               "times as much, if that says")
        report = json.loads(page.report)
        report["cases"][0].update(recipe_width=0, recipe_has_other_errors=True)  # not known
        self.path("r.html").write_bytes(subprocess.run(
            [PAGE], input=json.dumps(report).encode(), capture_output=True, check=True).stdout)
        self.assertIn("but only because it permits more: its own errors are others",
                      Page(self.path("r.html")).text)

    def test_filters_cases(self):
        self.path("a.cases").write_text(CASES)
        self.run_it("check", "a.cases", "--subject", "defect:rms_norm/mean_subtracted",
                    "--html", "r.html")
        self.assertEqual(Page(self.path("r.html"), FILTER).hidden, 1)
        self.assertEqual(Page(self.path("r.html"), FILTER.replace("mean_sub", "nothing")).hidden, 2)

    def test_a_page_that_cannot_be_written_is_an_error(self):
        result = self.run_it("check", "softmax N=1 M=4", "--subject", "fast", "--html", "none/r.html")
        self.assertEqual(result.returncode, 2)


if __name__ == "__main__":
    unittest.main()
