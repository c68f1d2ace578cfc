"""Tests of `sextant profile`: its numbers against numpy, and its page in a browser.

    SEXTANT=build/sextant python3 tools/cli/profile_test.py
"""

import csv
import json
import pathlib
import unittest

import numpy

from browser import Page
from program import ProgramTest

LINE = "rope pairing=half H=2 D=16 dtype=bf16 @position=log(1..4096)"


def ulp_of_bf16(x):
    return 2.0 ** (numpy.floor(numpy.log2(numpy.abs(x))) - 7)


class Profile(ProgramTest):
    def profile(self, *arguments, status=0):
        result = self.run_it("profile", *arguments)
        self.assertEqual(result.returncode, status, result.stderr)
        return result.stdout

    def report(self, *arguments):
        self.profile(*arguments, "-o", "p.json")
        return json.loads(self.path("p.json").read_text())

    def test_its_numbers_are_those_of_numpy(self):
        subject = self.report(LINE, "--subject", "recipe:native")["subjects"][0]
        proven = json.loads(self.run_it("eval", *LINE.split(), "--json").stdout)
        exact = numpy.array(proven["outputs"]["y"]["high"]) + proven["outputs"]["y"]["low"]
        answer = json.loads(self.run_it("ask", LINE, "--subject", "recipe:native", "--json").stdout)
        got = numpy.array(answer["outputs"]["y"]["value"])
        position = numpy.array(proven["inputs"]["position"]["value"])
        ulps = ((got - exact) / ulp_of_bf16(exact)).reshape(2, len(position), 16)
        self.assertEqual([group["key"] for group in subject["groups"]], list(position))

        def assert_same(errors, signed):
            magnitudes = numpy.sort(numpy.abs(signed).ravel())
            for name, expected in (
                    ("median", numpy.quantile(magnitudes, 0.5, method="inverted_cdf")),
                    ("p99", numpy.quantile(magnitudes, 0.99, method="inverted_cdf")),
                    ("largest", magnitudes[-1]), ("rms", numpy.sqrt(numpy.mean(signed ** 2))),
                    ("bias", signed.mean())):
                self.assertAlmostEqual(errors[name], expected, delta=1e-12 * magnitudes[-1])

        assert_same(subject["errors"]["ulps"], ulps)
        for i, group in enumerate(subject["groups"]):
            self.assertEqual(group["elements"], 32)
            assert_same(group["errors"]["ulps"], ulps[:, i])
        largest = numpy.abs(ulps).max(0)  # pair k has the channels k and k + 8
        numpy.testing.assert_allclose(subject["map"]["largest"],
                                      numpy.maximum(largest[:, :8], largest[:, 8:]), rtol=1e-12)
        self.assertEqual(sum(subject["histogram"]), ulps.size)
        self.assertAlmostEqual(subject["worst"][0]["ulps"], numpy.abs(ulps).max())

    def test_an_honest_rounding_has_the_expected_histogram(self):
        report = self.report(LINE, "--subject", "recipe:exact", "--by", "pair")
        shares = numpy.array(report["subjects"][0]["histogram"]) / (73 * 32)
        self.assertAlmostEqual(sum(report["honest_shares"]), 1)
        # Five standard deviations of a share of 1/4 among these elements.
        numpy.testing.assert_allclose(shares, report["honest_shares"], atol=5 * (3 / 16 / 2336) ** .5)

    def test_several_subjects_and_steps(self):
        report = self.report(LINE, "--subject", "recipe:native", "--subject", "recipe:f32_compute",
                             "--by", "step")
        native, fused = report["subjects"]
        self.assertGreater(native["errors"]["ulps"]["p99"], 2 * fused["errors"]["ulps"]["p99"])
        steps = {one["step"]: one for one in native["steps"]["steps"]}
        self.assertGreater(steps["table"]["only"]["p99"], 1)
        self.assertLess(steps["angle"]["only"]["p99"], 0.1)
        self.profile(LINE, "--subject", "recipe:native", "--by", "step", "-o", "p.csv")
        rows = list(csv.DictReader(self.path("p.csv").read_text().splitlines()))
        self.assertEqual([row["key"] for row in rows], list(steps))
        self.assertEqual(float(rows[-1]["only_p99"]), steps["store"]["only"]["p99"])

    def test_the_cheapest_recipe_stays_below_the_bound(self):
        below = self.report(LINE, "--subject", "recipe:native", "--below", "2")["below"]
        self.assertLessEqual(below["p99"], 2)
        again = self.report(LINE, "--subject", "recipe:" + below["recipe"])["subjects"][0]
        self.assertEqual(again["errors"]["ulps"]["p99"], below["p99"])
        said = self.run_it("profile", LINE, "--subject", "recipe:native", "--below", "2").stdout
        self.assertIn(f"cheapest recipe below 2 ulps in 99 % of the elements: {below['recipe']} (", said)
        said = self.run_it("profile", LINE, "--subject", "recipe:native", "--below", "1e-9").stdout
        self.assertIn("no recipe stays below 1e-09 ulps", said)

    def test_the_worst_case_is_found_again(self):
        arguments = ["activation kind=gelu N=2 F=32", "--subject", "recipe:native", "--by", "argument"]
        found = self.report(*arguments, "--worst", "20", "--seed", "7")["subjects"][0]["found"]
        self.assertEqual(found, self.report(*arguments, "--worst", "20", "--seed", "7")
                         ["subjects"][0]["found"])
        first = self.report(arguments[0], *arguments[1:])["subjects"][0]["errors"]["permitted"]
        self.assertGreater(found[0]["permitted"], first["largest"])
        again = self.report(found[0]["case"], *arguments[1:])["subjects"][0]["errors"]["permitted"]
        self.assertEqual(again["largest"], found[0]["permitted"])

    def test_a_budget_measures_a_part(self):
        arguments = [LINE.replace("log(1..4096)", "log(1..65536)"), "--subject", "recipe:native"]
        whole = self.report(*arguments)
        part = self.report(*arguments, "--budget-elements", "500", "--seed", "3")
        own, all_of_it = part["subjects"][0], whole["subjects"][0]
        self.assertEqual(whole["left_out"], 0)
        self.assertEqual(part["left_out"] + own["elements"], all_of_it["elements"])
        self.assertTrue(200 < own["elements"] <= 500, own["elements"])
        of_key = {group["key"]: group["errors"]["ulps"]["largest"] for group in all_of_it["groups"]}
        for group in own["groups"]:
            self.assertLessEqual(group["errors"]["ulps"]["largest"], of_key[group["key"]])
        self.assertLess(own["steps"]["total"]["largest"], all_of_it["errors"]["ulps"]["largest"] + 1e-9)
        self.assertGreater(own["steps"]["total"]["p99"], 1)

    def test_the_worst_elements_have_a_short_command(self):
        worst = self.report(LINE, "--subject", "recipe:native")["subjects"][0]["worst"]
        self.assertEqual({one["repeat"] for one in worst},
                         {"sextant check 'rope pairing=half D=16 H=2 dtype=bf16 @position=log(1..4096)' "
                          "--subject 'recipe:native' -v"})
        other = self.report(LINE, "--subject", "recipe:native", "--recipe", "f32_compute")
        self.assertIn(" --recipe 'f32_compute'", other["subjects"][0]["worst"][0]["repeat"])

    # The lse of attention has no channels: it counts, but in no group.
    def test_groups_the_outputs_that_have_the_groups(self):
        subject = self.report("attention H=2 S=3 T=4 D=8 E=5", "--subject", "recipe:native",
                              "--by", "E")["subjects"][0]
        self.assertEqual(sum(group["elements"] for group in subject["groups"]), 2 * 3 * 5)
        self.assertEqual(subject["elements"], 2 * 3 * 5 + 2 * 3)
        report = self.report("rope pairing=half H=1 S=2 D=4", "rms_norm N=2 M=4", "--subject", "fast")
        self.assertEqual(report["by"], "row")

    def test_says_the_limits_of_an_option(self):
        result = self.run_it("profile", "rms_norm N=2 M=4", "--subject", "fast", "--below", "-3")
        self.assertEqual(result.returncode, 2)
        self.assertIn("--below: is -3, expected at least 0\n", result.stderr)

    def test_refuses_groups_that_do_not_exist(self):
        for arguments in (["--by", "pair"], ["-o", "p.txt"]):
            result = self.run_it("profile", "rms_norm N=2 M=4", "--subject", "fast", *arguments)
            self.assertEqual(result.returncode, 2, result.stdout)

    # An answer with NaN, and arguments 0, whose logarithm is infinite.
    def test_a_page_shows_what_is_not_finite(self):
        adapter = pathlib.Path(__file__).resolve().parents[1] / "adapters/python"
        self.path("nan.py").write_text(
            f"import sys\nsys.path.insert(0, {str(adapter)!r})\nimport numpy as np\n"
            "import sextant_adapter as sextant\n"
            "def rope(x, position, **others):\n    x[..., 1] = np.nan\n    return {'y': x}\n"
            "sextant.serve({'rope': rope}, name='nan', version='1', recipe='native')\n")
        subject = f"exec:/usr/bin/python3 {self.path('nan.py')}"
        for cases in ("rope pairing=half H=2 S=4 D=8 @x=special", "rope pairing=half H=2 S=0 D=8"):
            status = 0 if "special" in cases else 4
            text = self.profile(cases, "--subject", subject, "--subject", "fast", "--by",
                                "argument", "-o", "p.html", status=status)
            page = Page(self.path("p.html"))
            page.assert_stands_alone(self)
            if status != 0:
                self.assertIn("fast, recipe exact_table: nothing was measured", text)
                self.assertIn("nothing was measured", page.text)
                self.assertNotIn("histogram of errors", page.labels)
            else:
                self.assertIn("histogram of errors", page.labels)
                self.assertIn("infinite or NaN", page.text)
                self.assertEqual(page.tables["summary"][1][5], "inf")
                self.assertIn("-inf", {row[1] for row in page.tables["worst"]})

    # Chromium builds the page; what it shows are the numbers of the report.
    def test_the_page_in_a_browser(self):
        self.profile(LINE, "--subject", "recipe:native", "--subject", "fast", "--below", "2",
                     "--worst", "3", "-o", "p.html")
        page = Page(self.path("p.html"))
        report = json.loads(page.report)
        self.assertEqual(len(report["subjects"]), 2)
        summary = page.tables["summary"]
        for row, subject in zip(summary[1:], report["subjects"], strict=True):
            ulps = subject["errors"]["ulps"]
            self.assertEqual(row[3:7], [f"{ulps[name]:.3g}"
                                        for name in ("median", "p99", "largest", "bias")])
        self.assertEqual(page.labels[:4], ["error over position", "map of errors of recipe:native",
                                           "map of errors of fast", "histogram of errors"])
        self.assertEqual(len(page.labels), 6)  # and the steps of two recipes
        self.assertEqual(len(page.tables["worst"]), 2 * 21)
        self.assertIn("below", page.ids)
        self.assertNotIn("NaN", "".join(sum(summary, [])))
        page.assert_stands_alone(self)


if __name__ == "__main__":
    unittest.main()
