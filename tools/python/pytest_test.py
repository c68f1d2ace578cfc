"""Tests of the plugin of pytest: a user's tests, run by pytest in a folder of their own.

    SEXTANT=build/sextant python3 tools/python/pytest_test.py
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(os.environ.get("SEXTANT", "build/sextant")).resolve().parent

CASES = """# for the tests below
rope pairing=half base=500000 H=2 S=3 D=8 dtype=bf16 @position=0,1,8191
rope pairing=interleaved H=1 S=2 D=4   # the pairing of GPT-J
rope pairing=half H=1 S=2 D=4 scaling=linear(factor=4)
"""
ROPE = """
import torch
import sextant

def rope(x, position, base):
    half = x.shape[-1] // 2
    frequency = base ** (-torch.arange(half, dtype=torch.float64) / half)
    angle = position[:, None, :, None].double() * frequency
    a, b = x[..., :half].double(), x[..., half:].double()
    return torch.cat([a * angle.cos() - b * angle.sin(), b * angle.cos() + a * angle.sin()], -1).to(x.dtype)
"""
TEST = ROPE + """
@sextant.mark.cases("rope.cases")
def test_rope(case):
    if case.attributes["scaling"]["type"] != "none":
        raise sextant.Unsupported("scaling")
    case.check(rope(**case.torch(), base=case.attributes["base"]), recipe="f32_compute")
"""
KNOWN = """
[[expect]]
cases = "rope pairing=interleaved*"
outcome = "fails"
outputs = ["y"]
S = [1, 1]
cause = "pairing=half"
reason = "only halves are supported"

[[expect]]
cases = "*linear*"
outcome = "unsupported"
reason = "no scaling yet"
"""


class Plugin(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.write("sub/rope.cases", CASES)
        self.write("sub/test_rope.py", TEST)
        self.write("known.toml", KNOWN)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)

    def pytest(self, *words, **environment):
        result = subprocess.run(
            [sys.executable, "-B", "-m", "pytest", "-p", "no:cacheprovider", "-q", "--strict-markers",
             *words], cwd=self.folder, capture_output=True, text=True,
            env=os.environ | {"PYTHONPATH": str(BUILD / "python")} | environment)
        return result.returncode, result.stdout + result.stderr

    def test_the_examples_of_the_readme(self):
        readme = pathlib.Path(__file__).with_name("README.md").read_text()
        first, identify, profile, second = re.findall(r"^```python\n(.*?)^```$", readme, re.M | re.S)
        self.write("sub/test_rope.py", first)
        self.write("sub/test_cases.py", second.replace(
            "import sextant\n", "import sextant\nfrom test_rope import my_rope\n", 1))
        code, output = self.pytest()
        self.assertEqual(code, 0, output)
        self.assert_ends(output, "2 passed")
        self.assertEqual(self.results_of(first, identify, profile), ["True", "119"])
        wrong = first.replace("b * cos + a * sin", "b * cos - a * sin").replace(
            "a * cos - b * sin", "a * cos + b * sin").replace(
                "torch.randn(1, 2, 16, 64)", "1 + torch.rand(1, 2, 16, 64)")  # no element is near 0
        self.write("sub/test_rope.py", wrong)
        output = self.pytest()[1]
        shown = re.search(r"^    (test_rope.py:16: FAILS: .*?)\n\n", readme, re.M | re.S)[1]
        for line in shown.replace("\n    ", "\n").splitlines():
            if "y[" not in line:  # the inputs are others
                self.assertIn(line, output)

    def results_of(self, first, identify, profile):
        """Whether `identify` finds an attribute of the function, and the groups of the profile."""
        self.write("sub/asks.py", "import numpy as np\nfrom test_rope import *\n" + identify + profile +
                   "print('base=500000' in found.case and found.conforms)\nprint(len(p['mine'].ulps.p99))\n")
        result = subprocess.run(
            [sys.executable, "-B", "asks.py"], cwd=self.folder / "sub", capture_output=True, text=True,
            env=os.environ | {"PYTHONPATH": str(BUILD / "python")})
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue((self.folder / "sub" / "profile.html").exists())
        return result.stdout.split()

    def assert_ends(self, output, summary):
        self.assertRegex(output.splitlines()[-1], f"^{summary} in ", output)

    def test_one_test_per_case_and_a_failure_without_traceback(self):
        code, output = self.pytest()
        self.assertEqual(code, 1)
        self.assert_ends(output, "1 failed, 1 passed, 1 skipped")
        self.assertIn("FAILED sub/test_rope.py::test_rope[rope pairing=interleaved H=1 S=2 D=4]", output)
        message = output.split("___\n")[-1].split("\n====")[0]
        self.assertRegex(message, r"^sub/test_rope\.py:\d+: FAILS: rope pairing=interleaved base=10000 ")
        self.assertIn("  likely cause: pairing=half", message)
        self.assertNotIn("def test_rope", output)
        self.assertLessEqual(len(message.splitlines()), 15)
        self.assertIn("def test_rope", self.pytest("--full-trace")[1])

    def test_cases_without_elements_are_skipped_if_the_shape_is_right(self):
        self.write("sub/rope.cases", "rope pairing=half H=1 S=0 D=4\nrope pairing=half H=0 S=2 D=4\n")
        code, output = self.pytest("-rs")
        self.assertEqual(code, 0, output)
        self.assert_ends(output, "2 skipped")
        self.assertIn("nothing to judge: no output has an element", output)
        self.write("known.toml", '[[expect]]\ncases = "*"\noutcome = "unverified"\nreason = "empty"\n')
        self.assertEqual(self.pytest("--sextant-expect", "known.toml")[0], 1)
        self.write("sub/test_rope.py", TEST.replace(", recipe", "[..., :2], recipe"))
        code, output = self.pytest()
        self.assert_ends(output, "2 failed")
        self.assertRegex(output, r"y has 2 for the axis D of y\[B,H,S,D\], but D=4")

    def test_exactly_the_expected_results_are_green(self):
        self.assertEqual(self.pytest("--sextant-expect", "known.toml")[0], 0)
        self.assertEqual(self.pytest("--sextant-expect", "known.toml", "-n", "2")[0], 0)
        output = self.pytest("--sextant-expect", "known.toml", "-rx")[1]
        self.assertIn("only halves are supported", output)
        self.assert_ends(output, "1 passed, 2 xfailed")

    def assert_red(self, old, new, message, code=1):
        self.write("known.toml", KNOWN.replace(old, new))
        found, output = self.pytest("--sextant-expect", "known.toml")
        self.assertEqual(found, code, output)
        self.assertIn(message, output)

    def test_every_other_result_than_the_expected_one_is_red(self):
        first = "known.toml:2: "
        self.assert_red("pairing=interleaved", "pairing=",
                        first + "it is expected to be 'fails', but is 'conforms'")
        self.assert_red('"fails"\noutputs = ["y"]\nS = [1, 1]\ncause', '"unverified"\nlink',
                        first + "it is expected to be 'unverified', but is 'fails'")
        self.assert_red('outcome = "unsupported"', 'outcome = "could_not_run"',
                        "expected to be 'could_not_run', but is 'unsupported'")
        self.assert_red('["y"]', '["z"]', first + "rope has no output 'z'; it has: y")
        self.assert_red("S = [1, 1]", "S = [0, 0]", first + "y fails at S=1, expected only S=0..0")
        self.assert_red("S = [1, 1]", "S = [2]", first + "y fails at S=1, expected only S=2..")
        self.assert_red('cause = "pairing=half"', 'cause = "no"', first + "the expected cause is no")
        self.assert_red('"only', '"only"\nuntil = 2020-01-01\n#', "known.toml:2 expired after 2020-01-01")
        self.assert_red("*linear*", "*dynamic*", "known.toml:10 decides no test of this run", code=0)

    def test_an_entry_exempts_cases_from_a_later_one(self):
        general = '[[expect]]\ncases = "rope *"\noutcome = "unsupported"\nreason = "no scaling yet"\n'
        exempt = '[[expect]]\ncases = "*dtype=bf16*"\noutcome = "conforms"\nreason = "it works"\n'
        self.write("known.toml", KNOWN.split("\n\n")[0] + "\n" + exempt + general)
        code, output = self.pytest("--sextant-expect", "known.toml")
        self.assertEqual(code, 0, output)
        self.assert_ends(output, "1 passed, 2 xfailed")
        self.write("known.toml", exempt.replace("*dtype=bf16*", "*=interleaved*") + general)
        code, output = self.pytest("--sextant-expect", "known.toml")
        self.assertEqual(code, 1, output)
        self.assertIn("known.toml:1: it is expected to be 'conforms', but is 'fails' (it works)", output)

    def test_a_general_entry_says_what_may_fail(self):
        may = '[[expect]]\ncases = "rope *"\nmay = "fail"\ncause = "pairing=half"\nreason = "only halves"\n'
        self.write("known.toml", may)
        code, output = self.pytest("--sextant-expect", "known.toml")
        self.assertEqual(code, 0, output)
        self.assert_ends(output, "1 passed, 1 skipped, 1 xfailed")
        self.write("known.toml", may.replace("pairing=half", "rotates_backwards"))
        code, output = self.pytest("--sextant-expect", "known.toml")
        self.assertEqual(code, 1, output)
        self.assertIn("known.toml:1: the expected cause is rotates_backwards, but likely is: ", output)

    def test_a_crash_can_be_expected(self):
        self.write("sub/test_rope.py", TEST.replace('raise sextant.Unsupported("scaling")', "1 / 0"))
        self.assertEqual(self.pytest("--sextant-expect", "known.toml")[0], 1)
        self.write("known.toml", KNOWN.replace('"unsupported"', '"could_not_run"'))
        self.assertEqual(self.pytest("--sextant-expect", "known.toml")[0], 0)

    def test_wrong_files_of_expectations_are_refused(self):
        for text, message in (
            ("[[expect]\n", "known.toml:1: "),
            (KNOWN.replace('reason = "no', '#'), "known.toml:10: the entry has no 'reason'"),
            (KNOWN.replace('"fails"', '"wrong"'), "known.toml:4: outcome 'wrong' is not one of: conforms unlikely fails"),
        ):
            self.write("known.toml", text)
            code, output = self.pytest("--sextant-expect", "known.toml")
            self.assertEqual(code, 4, output)
            self.assertIn(message, output)
        self.assertIn("no.toml", self.pytest("--sextant-expect", "no.toml")[1])

    def test_a_filter_keeps_some_cases(self):
        for text, count in (("dtype=bf16", 1), ("rope*H=1*", 2), ("pairing=*H=1", 2), ("pairing=half", 2)):
            self.write("sub/test_rope.py", TEST.replace('"rope.cases"', f'"rope.cases", filter="{text}"'))
            self.assertIn(f"{count} tests collected", self.pytest("--collect-only")[1].replace(
                "1 test collected", "1 tests collected"))

    def test_wrong_marks_are_refused(self):
        for old, new, message in (
            ('"rope.cases"', '"no.cases"', "no.cases: "),
            ('"rope.cases"', '"rope.cases", filter="softmax"', "has no case, or none for the filter 'softmax'"),
            ("@sextant.mark", "# ", "the argument `case` needs the mark sextant.mark.cases"),
        ):
            self.write("sub/test_rope.py", TEST.replace(old, new))
            code, output = self.pytest()
            self.assertNotEqual(code, 0)
            self.assertIn(message, output)
            self.assertNotIn("raise ", output)
        self.write("sub/test_rope.py", TEST)
        self.write("sub/rope.cases", "rope pairing=half H=1 S=1 D=2\nrope pairing=sideways\n")
        self.assertIn("rope.cases:2: ", self.pytest()[1])

    def test_a_test_that_checks_nothing_is_red(self):
        self.write("sub/test_rope.py", TEST.replace("    case.check(rope(", "    id(("))
        self.write("sub/test_rope.py", "import sextant\n@sextant.mark.cases('rope.cases')\n"
                                       "def test_rope(case):\n    case.torch()\n")
        code, output = self.pytest()
        self.assertEqual(code, 1)
        self.assertEqual(output.count("the test did not call case.check"), 3)

    def test_plain_tests_and_wrong_calls_have_no_traceback(self):
        self.write("sub/test_rope.py", ROPE + """
def test_own():
    x, position = torch.ones(1, 1, 3, 4), torch.arange(3)[None]
    sextant.assert_conforms("rope pairing=half", {"x": x, "position": position}, {"y": x})

def test_wrong_call():
    sextant.judge("rope", {}, {})
""")
        output = self.pytest()[1]
        self.assertRegex(output, r"\nsub/test_rope\.py:14: FAILS: rope pairing=half")
        self.assertRegex(output, r"\nsub/test_rope\.py:17: rope needs the input x")
        self.assertNotIn("def test_", output)

    def test_failures_in_helpers_are_at_the_line_of_the_test(self):
        helper = """
def check_rope(x, y):
    position = torch.arange(x.shape[-2])[None]
    sextant.assert_conforms("rope pairing=half", {"x": x, "position": position}, {"y": y})
"""
        test = "def test_own():\n    x = torch.ones(1, 1, 3, 4)\n    check_rope(x, x)\n"
        self.write("sub/rope_helpers.py", ROPE + helper)
        self.write("sub/test_rope.py", "import torch\nfrom rope_helpers import check_rope\n" + test)
        self.assertRegex(self.pytest()[1], r"\nsub/test_rope\.py:5: FAILS: rope pairing=half")
        # Without the plugin pytest's own traceback ends in the helper, at the call.
        output = self.pytest("-p", "no:sextant")[1]
        self.assertRegex(output, r"\nsub/rope_helpers\.py:14: DoesNotConform\n")
        self.assertNotIn("raise DoesNotConform", output)
        self.write("sub/test_rope.py", ROPE + helper + test)
        self.assertRegex(self.pytest()[1], r"\nsub/test_rope\.py:17: FAILS: rope pairing=half")

    def test_the_tensors_of_failures_are_kept(self):
        output = self.pytest(SEXTANT_KEEP="kept")[1]
        (file,) = (self.folder / "kept").iterdir()
        command = re.search("^repeat: (sextant judge .*)$", output, re.M)[1]
        self.assertIn(f"kept/{file.name}", command)
        again = subprocess.run(["bash", "-c", command.replace("sextant", str(BUILD / "sextant"), 1)],
                               cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(again.returncode, 1, again.stderr)
        self.assertIn(again.stdout.strip(), output)

    # Each tolerance once, in whatever process its test ran.
    def test_the_tolerances_of_tests_are_graded_at_the_end(self):
        self.write("sub/test_rope.py", ROPE + """
import pytest
@pytest.mark.parametrize("seed", [1, 2])
def test_own(seed):
    inputs = sextant.draw(f"rope pairing=half H=1 S=3 D=4 seed={seed}")
    x, position = torch.tensor(inputs["x"]), torch.tensor(inputs["position"])
    y = rope(x, position, 10000)
    sextant.assert_close(y, y, atol=1e-1, rtol=0, question="rope pairing=half",
                         inputs={"x": x, "position": position}, recipe="f32_compute")
""")
        for options in (), ("-n", "2"):
            status, output = self.pytest(*options)
            self.assertEqual(status, 0, output)
            self.assertEqual(output.count("sextant: the tolerance of assert_close: rope pairing=half"), 1, output)
            self.assertRegex(output, r"atol 0\.1, rtol 0, .*\n +rejects no right answer of the recipe f32_compute")

    def test_workers_of_xdist_use_one_thread_each(self):
        self.write("sub/test_rope.py", "import sextant._calls\n"
                                       "def test_threads():\n    assert sextant._calls._threads(0) == 1\n")
        self.assertEqual(self.pytest("-n", "1")[0], 0)
        self.assertEqual(self.pytest()[0], 1)


if __name__ == "__main__":
    unittest.main()
