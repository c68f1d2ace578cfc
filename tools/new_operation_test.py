"""Tests of tools/new_operation, run in a copy of the source tree.

    python3 tools/new_operation_test.py
"""

import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[1]
COPIED = ("reference", "fast", "oracle", "fixtures", "tools", ".ci", ".clang-format")
CALL = ("scaled_sum", "x[N,M] weight:wide[M] position:i64[N] -> y[N,M] sum?[N]",
        "--family", "layer", "--attribute", "alpha=1", "--attribute", "exact=false")  # fmt: skip


class NewOperation(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.copy = pathlib.Path(folder.name)
        for name in COPIED:
            if (ROOT / name).is_dir():
                ignored = shutil.ignore_patterns("__pycache__")
                shutil.copytree(ROOT / name, self.copy / name, ignore=ignored)
            else:
                shutil.copy(ROOT / name, self.copy / name)

    def run_in_copy(self, *words):
        return subprocess.run(words, cwd=self.copy, capture_output=True, text=True)

    def call(self, *words):
        return self.run_in_copy("tools/new_operation", *words)

    def contents(self):
        return {path: path.read_bytes() for path in self.copy.rglob("*") if path.is_file()}

    def table_of_operations(self):
        text = (self.copy / "reference/CASES.md").read_text()
        return re.search(r"`sextant list`:\n\n```\n(.*?)^```$", text, re.M | re.S)[1]

    def assert_refused(self, message, *words):
        before = self.contents()
        done = self.call(*words)
        self.assertEqual((done.returncode, done.stdout), (2, ""), words)
        self.assertIn(message, done.stderr)
        self.assertEqual(self.contents(), before)

    def test_writes_every_part_except_the_golden(self):
        before = set(self.run_in_copy(".ci/check-rooms").stdout.splitlines())
        done = self.call(*CALL)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        new = set(self.run_in_copy(".ci/check-rooms").stdout.splitlines()) - before
        self.assertIn("scaled_sum lacks fixtures/golden/scaled_sum.h5", new)
        unwritten = {line for line in new if ": still to write: " in line}
        self.assertEqual(len(new - unwritten), 1, new)
        marked = {line.split(":")[0] for line in unwritten}
        printed = done.stdout.splitlines()
        written = {line.split()[-1] for line in printed if line.startswith("wrote")}
        self.assertEqual(marked, written | {"tools/adapters/native/layer.py"})

    def test_writes_formatted_files(self):
        self.assertEqual(self.call(*CALL).returncode, 0)
        files = [*self.copy.rglob("*scaled_sum*.cc"), *self.copy.rglob("scaled_sum.h"),
                 self.copy / "reference/case/operations.h"]  # fmt: skip
        self.assertEqual(len(files), 6)
        done = self.run_in_copy("clang-format", "--dry-run", "-Werror", *files)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_lists_the_operation_last(self):
        self.assertEqual(self.call(*CALL).returncode, 0)
        listed = (self.copy / "reference/case/operations.h").read_text()
        self.assertRegex(listed, r"struct EncoderBlock,\s+struct ScaledSum>;")
        self.assertRegex(self.table_of_operations(), rf"\n{CALL[0]} +{re.escape(CALL[1])}\n$")

    def test_aligns_the_table_of_operations(self):
        before = self.table_of_operations()
        self.assertEqual(self.call(*CALL).returncode, 0)
        self.assertTrue(self.table_of_operations().startswith(before))
        name = "scaled_" * 8 + "sum"
        self.assertEqual(self.call(name, "x[N] -> y[N]", "--family", "block").returncode, 0)
        columns = {line.index(line.split()[1]) for line in self.table_of_operations().splitlines()}
        self.assertEqual(columns, {len(name) + 1})

    def test_refuses_names_and_files_that_exist(self):
        self.assert_refused("there is an operation soft_cap already",
                            "soft_cap", "x[N] -> y[N]", "--family", "layer")  # fmt: skip
        self.assert_refused("has a type Tensor already",
                            "tensor", "x[N] -> y[N]", "--family", "layer")  # fmt: skip
        self.assert_refused("has a function product already",
                            "product", "x[N] -> y[N]", "--family", "layer")  # fmt: skip
        (self.copy / "fixtures/cases/scaled_sum.cases").write_text("mine\n")
        self.assert_refused("fixtures/cases/scaled_sum.cases exists already", *CALL)

    def test_refuses_invalid_arguments(self):
        last = ("--family", "layer")
        self.assert_refused("'Norm2', expected lower-case words", "Norm2", "x[N] -> y[N]", *last)
        self.assert_refused("is a keyword of Python", "lambda", "x[N] -> y[N]", *last)
        self.assert_refused("expected INPUTS -> OUTPUTS", "scaled_sum", "x[N]", *last)
        self.assert_refused("'x' is not a tensor", "scaled_sum", "x -> y[N]", *last)
        self.assert_refused("'n' of x is not an axis", "scaled_sum", "x[n] -> y[N]", *last)
        self.assert_refused("input x has a ?", "scaled_sum", "x?[N] -> y[N]", *last)
        self.assert_refused("the name 'x' occurs twice", "scaled_sum", "x[N] -> x[N]", *last)
        self.assert_refused("attribute: 'alpha', expected", "scaled_sum", "x[N] -> y[N]", *last,
                            "--attribute", "alpha")  # fmt: skip
        self.assert_refused("invalid choice: 'other'",
                            "scaled_sum", "x[N] -> y[N]", "--family", "other")  # fmt: skip


if __name__ == "__main__":
    unittest.main()
