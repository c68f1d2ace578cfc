"""Tests `run` with a subject that needs no framework.

  SEXTANT=build/sextant /usr/bin/python3 -B tools/frameworks/run_test.py
"""

import contextlib
import importlib.machinery
import importlib.util
import io
import os
import pathlib
import shutil
import sys
import tempfile
import tomllib
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PROGRAM = pathlib.Path(os.environ.get("SEXTANT", "build/sextant")).resolve()
sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader("frameworks_run", str(HERE / "run"))
run = importlib.util.module_from_spec(importlib.util.spec_from_loader("frameworks_run", loader))
loader.exec_module(run)

OPERATION = "temperature_scale"
EVERYTHING = {"cases": f"{OPERATION} *", "outcome": "fails", "reason": "a test"}
LACKS_EVERYTHING = f"""
import sys
sys.path.insert(0, {str(ROOT / "tools/adapters/python")!r})
import sextant_adapter as sextant
def lacks(**_):
    raise sextant.Unsupported("not in this version")
sextant.serve({{"{OPERATION}": lacks}}, name="empty", version="1", recipe="native")
"""


class Run(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.runner = run.Runner(PROGRAM, self.folder)

    def as_expected(self, known=(), **more):
        """Whether the verdicts on a framework without any answer are as expected."""
        program = self.folder / "subject.py"
        program.write_text(LACKS_EVERYTHING)
        framework = {"name": "empty", "command": f"/usr/bin/python3 -B {program}", "known": known, **more}
        file = self.runner.known_of(framework, OPERATION)
        report, right = self.runner.check(framework, OPERATION, "native", file)
        self.assertEqual({case["outcome"] for case in report["cases"]}, {"unsupported"})
        return right

    def test_a_claimed_operation_must_answer_a_case(self):
        self.assertFalse(self.as_expected())
        self.assertFalse(self.as_expected(may_lack=["rms_norm"]))

    def test_an_operation_that_some_versions_lack_may_be_absent(self):
        self.assertTrue(self.as_expected(may_lack=[OPERATION]))

    def test_known_failures_must_be_seen(self):
        self.assertFalse(self.as_expected(may_lack=[OPERATION], known=[EVERYTHING]))

    def test_the_known_deviations_are_divided_by_operation_without_loss(self):
        frameworks = list(run.frameworks_of([]))
        self.assertTrue(any(framework["known"] for framework in frameworks))
        for framework in frameworks:
            parts = [self.runner.known_of(framework, operation) for operation in framework["claims"]]
            texts = [part.read_text() for part in parts if part]
            entries = [entry for text in texts for entry in tomllib.loads(text)["expect"]]
            self.assertCountEqual(map(str, entries), map(str, framework["known"]))

    def known(self, text):
        path = self.folder / "known.toml"
        path.write_text(text)
        return run.known_deviations(path, ["rope", "softmax"])

    def test_entries_may_be_written_in_any_style_of_toml(self):
        entries = self.known("""
[[ expect ]]
reason = "a \\"quoted\\" word, é😀"   # cases need not be first
until = 2099-12-31
pair = [1, 2]
cases   = 'rope *dtype=bf16*'
[[expect]]
cases = "softmax *"
""")
        framework = {"name": "mine", "known": entries}
        part = self.runner.known_of(framework, "rope")
        self.assertEqual(tomllib.loads(part.read_text())["expect"], entries[:1])
        self.assertIsNone(self.runner.known_of(framework, "rms_norm"))

    def test_an_entry_about_no_claimed_operation_is_an_error(self):
        for line in ('cases = "linear *"', 'cases = "rope* dtype=f16"', 'cases = "ropes *"', 'cases = "*"',
                     'reason = "no cases"'):  # fmt: skip
            with self.subTest(line), contextlib.redirect_stderr(io.StringIO()) as message:
                self.assertRaises(SystemExit, self.known, "[[expect]]\n" + line)
                self.assertIn("expected one of: rope softmax", message.getvalue())

    def test_goldens_are_renewed_when_the_program_is_newer(self):
        program = self.folder / "sextant"
        shutil.copy(PROGRAM, program)
        runner = run.Runner(program, self.folder)
        golden = runner.golden(OPERATION)
        written = golden.stat().st_mtime_ns
        runner.golden(OPERATION)
        self.assertEqual(golden.stat().st_mtime_ns, written)
        os.utime(program, ns=(written + 1, written + 1))
        runner.golden(OPERATION)
        self.assertGreater(golden.stat().st_mtime_ns, written)


if __name__ == "__main__":
    unittest.main()
