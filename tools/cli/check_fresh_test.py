"""Tests of `sextant check --fresh`.

    SEXTANT=build/sextant python3 tools/cli/check_fresh_test.py
"""

import json
import os
import pathlib
import unittest

from program import ProgramTest

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "fixtures/golden/softmax.h5"

# Has the committed answers, and no formula; the test writes two lines before this text.
MEMORY = f"""
import h5py, numpy
import sextant_adapter
def key(x, dtype):
    return x.shape, dtype, x.astype("f8").tobytes()
answers = {{}}
for case in h5py.File({str(GOLDEN)!r})["cases"].values():
    words = dict(w.split("=") for w in case.attrs["case"].decode().split() if "=" in w)
    if "inputs" in case:
        answers[key(case["inputs/x"][()], words["dtype"])] = case["golden/y/value"][()]
def softmax(x, dtype, **_):
    y = answers.get(key(x, dtype))
    if y is None:
        FORGOTTEN
    return {{"y": y.astype(x.dtype)}}
sextant_adapter.serve({{"softmax": softmax}}, name="memory", version="1", recipe="native")
"""


class Fresh(ProgramTest):
    def test_a_subject_that_knows_the_committed_answers_fails_with_fresh_inputs(self):
        folder = ROOT / "tools/adapters/python"
        command = ("check", GOLDEN, "--open-rows", "--subject", "exec:/usr/bin/python3 -B memory.py",
                   "--supported-only", "--json", "a.json")
        for answer, status in (("y = numpy.full_like(x, 0.5)", 1),
                               ("raise sextant_adapter.Unsupported('that')", 5)):
            self.path("memory.py").write_text(f"import sys\nsys.path.append({str(folder)!r})\n" +
                                              MEMORY.replace("FORGOTTEN", answer))
            self.assertEqual(self.run_it(*command).returncode, 0)
            for fresh in "--fresh", "--fresh=7":
                result = self.run_it(*command, fresh)
                self.assertEqual(result.returncode, status, result.stdout)
                report = json.loads(self.path("a.json").read_text())
                self.assertGreater(report["fresh"]["cases"], 20)
                for case in report["cases"]:
                    self.assertEqual(case["status"] == "conforms", not case["fresh_of"], case["case"])
                self.assertIn(f"(--fresh={report['fresh']['seed']}): ", result.stdout)

    def test_every_report_says_the_seed(self):
        result = self.run_it("check", "rms_norm N=2 M=4", "--subject", "fast", "--fresh=7", "--html", "r.html",
                             "--junit", "a.xml", "--json", "a.json", "--json-lines", "a.jsonl",
                             env={**os.environ, "GITHUB_STEP_SUMMARY": str(self.path("summary.md"))})
        self.assertEqual(result.returncode, 0, result.stderr)
        said = "with fresh inputs (--fresh=7): 1 case\n"
        self.assertIn(said, result.stdout)
        self.assertIn(said, self.path("summary.md").read_text())
        self.assertIn("<code>--fresh=7</code>): 1 case", self.path("r.html").read_text())
        self.assertIn('<property name="fresh" value="7" />', self.path("a.xml").read_text())
        for name in "a.json", "a.jsonl":
            last = self.path(name).read_text().splitlines()[-1] if name == "a.jsonl" else self.path(name).read_text()
            self.assertEqual(json.loads(last)["fresh"], {"seed": 7, "questions": None, "cases": 1})


if __name__ == "__main__":
    unittest.main()
