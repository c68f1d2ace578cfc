"""Tests of the causes that `sextant check` and `sextant properties` report.

    SEXTANT=build/sextant python3 tools/cli/causes_test.py
"""

import json
import pathlib
import unittest

from program import ProgramTest

ADAPTER = pathlib.Path(__file__).resolve().parents[1] / "adapters/python"

# Right, but for {bug}: numpy code that changes y. `calls` counts the questions.
SUBJECT = """
import sys
sys.path.append({adapter!r})
import numpy as np
import sextant_adapter as sextant
calls = 0
def softmax(x, dtype, **given):
    global calls
    calls += 1
    e = np.exp(x.astype("f8") - x.max(-1, keepdims=True))
    y = sextant.round_to(e / e.sum(-1, keepdims=True), dtype)
    {bug}
    return {{"y": y}}
sextant.serve({{"softmax": softmax}}, name="a", version="1", recipe="native")
"""
CASE = "softmax N=8 M=64 dtype=f32"


class Causes(ProgramTest):
    def check(self, bug, *options):
        self.path("subject.py").write_text(SUBJECT.format(adapter=str(ADAPTER), bug=bug))
        return self.run_it("check", CASE, *options, "--subject",
                           "exec:/usr/bin/python3 -B subject.py", "--open-rows").stdout

    def test_an_answer_that_varies_is_the_cause(self):
        self.assertIn("likely cause: varies (the same question gave another answer: 128 of 512 "
                      "elements differ)", self.check("y[calls % 8] *= 3"))

    def test_no_cause_is_reported_for_a_right_answer(self):
        self.assertNotIn("likely cause", self.check("pass"))

    def test_rows_that_are_not_written_are_measured(self):
        text = self.check("y[5:] = 0", f"{CASE} seed=2", "--json", "a.json", "--junit", "a.xml")
        said = "y is 0 at N 5 to 7 (192 of 192 failing elements)"
        self.assertIn(f"2 of 2 failing cases: likely cause softmax/unwritten ({said})\n", text)
        self.assertNotIn("likely cause: ", text)
        cause = json.loads(self.path("a.json").read_text())["cases"][0]["causes"]
        self.assertEqual(cause, [{"name": "unwritten", "why": said, "measured": True, "beside": False}])
        self.assertIn(said, self.path("a.xml").read_text())

    def test_an_expectation_may_name_a_measured_cause(self):
        self.path("known.toml").write_text('[[expect]]\ncases = "softmax*"\ncause = "unwritten"\n'
                                           'reason = "the last rows are lost, issue 5"\n')
        self.assertIn("1 as_expected", self.check("y[5:] = 0", "--expect", "known.toml"))
        self.assertIn("UNEXPECTED", self.check("y[5:] *= 3", "--expect", "known.toml"))

    def test_a_broken_property_has_the_cause_of_a_wrong_answer(self):
        text = self.run_it("properties", "rms_norm", "--count", "20", "--seed", "1", "--subject",
                           "defect:rms_norm/eps_missing").stdout
        broken = text[text.index("ones_with_eps_three"):]
        self.assertIn("\n  likely cause: eps_missing (eps is not added)\n", broken)


if __name__ == "__main__":
    unittest.main()
