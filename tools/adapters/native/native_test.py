"""Judges the implementations in native.py by recipe native, on the cases of every operation.

  SEXTANT=build/sextant python3 native_test.py

One process answers for all operations. No case may fail, and each operation must conform in each of
f32, f16 and bf16 in which it has cases: 16-bit dtypes distinguish steps in f32 from steps in the
dtype.
"""

import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parents[2]
PROGRAM = pathlib.Path(os.environ.get("SEXTANT", "build/sextant")).resolve()
OPERATIONS = sorted(path.stem for path in (ROOT / "fixtures/cases").glob("*.cases"))
SUBJECT = f"exec:/usr/bin/python3 -B {FOLDER.relative_to(ROOT)}/native.py"
NARROW = {"f32", "f16", "bf16"}


def judged(operations, recipe="native"):
    """The verdicts on the committed cases of these operations: (operation, dtype, status, line)."""
    return verdicts_on([f"fixtures/cases/{operation}.cases" for operation in operations], recipe)


def verdicts_on(cases, recipe="native"):
    """The verdicts on these files of cases and case lines: (operation, dtype, status, line)."""
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        subprocess.run(
            [PROGRAM, "check", *cases, "--subject", SUBJECT, "--recipe", recipe, "--timeout", "300",
             "--json", report.name],
            cwd=ROOT, check=False, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        verdicts = json.loads(pathlib.Path(report.name).read_text())["cases"]
    for verdict in verdicts:
        words = dict(word.partition("=")[::2] for word in verdict["case"].split())
        operation = verdict["case"].split()[0]
        yield operation, words.get("dtype", "f32"), verdict["status"], verdict["case"]


def dtypes_of_cases(operation):
    lines = (ROOT / "fixtures/cases" / f"{operation}.cases").read_text().splitlines()
    words = [line.split("#")[0].split() for line in lines if line.startswith(operation + " ")]
    return {word[6:] for line in words for word in line if word.startswith("dtype=")}


class Native(unittest.TestCase):
    def test_every_operation_conforms_in_every_dtype(self):
        conforms = collections.defaultdict(set)
        for operation, dtype, status, line in judged(OPERATIONS):
            self.assertIn(status, ("conforms", "unverified", "unsupported"), line)
            if status == "conforms":
                conforms[operation].add(dtype)
        for operation in OPERATIONS:
            missing = (NARROW & dtypes_of_cases(operation)) - conforms[operation]
            self.assertFalse(missing, f"{operation}: no case in these dtypes conforms")

    def test_a_query_outside_of_the_keys_is_in_no_segment(self):
        cases = [f"attention H=1 S=3 T={T} D=2 segments={segments} empty_rows=zero {offset}"
                 for T, segments, offset in ((3, "[2]", "query_offset=[2]"), (2, "[1]", ""))]  # fmt: skip
        self.assertEqual([status for _, _, status, _ in verdicts_on(cases)], ["conforms"] * 2)

    def test_answers_fail_by_a_recipe_with_other_roundings(self):
        """The recipe f32_compute does not permit the 16-bit roundings of native."""
        for operation in ("rms_norm", "rope_rotate", "attention_scores", "gated"):
            found = {dtype for _, dtype, status, _ in judged([operation], "f32_compute")
                     if status == "fails"}  # fmt: skip
            self.assertEqual(found & {"f16", "bf16"}, found)
            self.assertTrue(found, operation)


if __name__ == "__main__":
    sys.exit(unittest.main())
