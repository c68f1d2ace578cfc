"""Tests of the campaign, and a small part of it.

    SEXTANT=build/sextant python3 tools/campaign/campaign_test.py
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
SEXTANT = os.path.abspath(os.environ.get("SEXTANT", "build/sextant"))
sys.path.insert(0, str(HERE))

import campaign  # noqa: E402
from cases import CASES  # noqa: E402
from deviations import SINGLES, held_out  # noqa: E402
from honest import honest_recipes  # noqa: E402
from kinds import KINDS  # noqa: E402
from matching import named, numbers_of, says  # noqa: E402
from program import catalog, check  # noqa: E402
from report import outcome  # noqa: E402


class Tables(unittest.TestCase):
    def test_there_are_enough(self):
        names = [n for n in SINGLES if not held_out(n)]
        self.assertGreater(len(names), 200)
        self.assertGreater(len(SINGLES) - len(names), 100)
        self.assertGreaterEqual(sum(len(honest_recipes(o)) for o in CASES), 70)

    def test_every_kind_has_words_and_a_deviation(self):
        self.assertEqual({d.kind for d in SINGLES.values()}, KINDS.keys())

    def test_every_case_is_used(self):
        for operation, lines in CASES.items():
            users = [d for d in SINGLES.values() if d.operation == operation]
            used = {case for user in [*users, *honest_recipes(operation)] for case in user.cases}
            self.assertEqual(used, lines.keys(), operation)


class Compare(unittest.TestCase):
    def compared(self, seen, held_out):
        with tempfile.TemporaryDirectory() as folder:
            before, after = Path(folder) / "before.json", Path(folder) / "after.json"
            before.write_text(json.dumps({
                "seen": {"rightly": ["rope/a", "rope/b"], "silent": ["rope/c"]},
                "held_out": {"rope": {"rightly": 4, "silent": 1}}}))
            after.write_text(json.dumps({
                "seen": [{"name": f"rope/{n}", "outcome": o} for n, o in seen.items()],
                "held_out": {"rope": held_out}}))
            run = subprocess.run([HERE / "compare", before, after], capture_output=True, text=True)
            return run.returncode, run.stdout

    def test_what_is_lost_is_told_by_name(self):
        status, said = self.compared({"a": "silent", "b": "rightly", "c": "rightly"}, {"rightly": 4, "silent": 1})
        self.assertEqual(status, 1)
        self.assertIn("LOST  rope/a: rightly -> silent\nother rope/c: silent -> rightly\n", said)
        self.assertIn("3 compared, 2 changed, 1 lost; held out, rightly: 4 -> 4; 0 new, 0 missing", said)

    def test_the_held_out_half_is_told_by_numbers(self):
        status, said = self.compared({"a": "rightly", "c": "silent"}, {"rightly": 3, "silent": 2})
        self.assertEqual(status, 1)
        self.assertIn("held out, rope: {'rightly': 4, 'silent': 1} -> {'rightly': 3, 'silent': 2}\n", said)
        self.assertIn("2 compared, 0 changed, 0 lost", said)
        self.assertIn("0 new, 1 missing", said)

    def test_a_run_that_loses_nothing_passes(self):
        self.assertEqual(self.compared({"a": "rightly", "b": "rightly"}, {"rightly": 5})[0], 0)


class Matching(unittest.TestCase):
    def test_numbers_of_a_sentence(self):
        found = numbers_of("pairs 43 to 63 turn at 1/64, not 0.125 or 1e-05 or 1/sqrt(64) or 2^-7")
        self.assertEqual(found, [43, 63, 1 / 64, 0.125, 1e-05, 0.125, 2**-7])

    def test_a_figure_is_said_in_any_form(self):
        self.assertTrue(says("positions above 32767 act as 32767", 32767))
        self.assertTrue(says("the angles are 1/3 of the right ones", 3))
        self.assertTrue(says("eps is 0, not 1e-05", 0))
        self.assertFalse(says("positions above 32767 act as 32767", 16384))

    def judged(self, name, why, deviation="rope/clamped_999", defects=None):
        truth = SINGLES[deviation]
        causes = [{"name": name, "why": why}]
        return named(causes, [[(truth, truth.figures)]], lambda _: defects)

    def test_the_right_figure_is_needed(self):
        said = self.judged("position_clamped", "positions above 999 act as 999")
        self.assertEqual((said.found, said.right, said.wrong), ({0}, 1, []))
        said = self.judged("position_clamped", "positions above 4095 act as 4095")
        self.assertEqual((said.found, said.right, len(said.wrong)), (set(), 0, 1))

    def test_a_table_without_a_name_is_vague(self):
        said = self.judged("positions_differ", "tokens act as others: 2047 as 47",
                           "rope/wrapped_511")
        self.assertEqual(said, (set(), 0, 1, []))
        for name in "positions_differ", "unknown_function":
            said = self.judged(name, "tokens act as others", "rope/base_12345")
            self.assertEqual((said.vague, len(said.wrong)), (0, 1))

    def test_a_listed_defect_is_right_by_its_answer(self):
        self.assertEqual(self.judged("base=2", "always 2", defects=set())[:2], (set(), 0))
        self.assertEqual(self.judged("base=2", "always 2", defects={0})[:2], ({0}, 1))

    def test_one_wrong_sentence_makes_the_outcome_wrong(self):
        right = {"status": "fails", "found": 1, "parts": 1, "vague": 0, "wrong": []}
        self.assertEqual(outcome([right]), "rightly")
        self.assertEqual(outcome([right, {**right, "wrong": ["x"]}]), "wrongly")
        self.assertEqual(outcome([{**right, "found": 0}]), "silent")
        self.assertEqual(outcome([{**right, "parts": 2}]), "half")
        self.assertEqual(outcome([{**right, "status": "conforms"}]), "not caught")


class Small(unittest.TestCase):
    """A part of the campaign, with the program."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.norm = campaign.Campaign("rms_norm", SEXTANT, cls.folder.name)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def measured(self, name, kind="singles"):
        job = next(j for j in self.norm.jobs(kind) if j.name == name)
        return self.norm.measure(job)

    def test_without_deviation_every_operation_conforms(self):
        for operation, lines in CASES.items():
            first = next(iter(lines))
            with self.subTest(operation):
                seen = check(SEXTANT, operation, [first], "right")[first]
                self.assertEqual((seen["status"], seen["causes"]), ("conforms", []))

    def test_a_listed_defect_is_named_rightly(self):
        self.assertEqual(self.measured("rms_norm/eps_outside")["outcome"], "rightly")

    def test_the_catalog_has_the_listed_defects(self):
        self.assertIn("eps_outside_the_root", catalog(SEXTANT, "rms_norm"))

    def test_deviations_with_the_same_answer_are_a_class(self):
        truth = self.norm.truth
        self.assertTrue(truth.shows("rms_norm/eps_0", "small"))
        self.assertIn("rms_norm/eps_as_floor", truth.class_of("rms_norm/eps_0", "small"))
        self.assertNotIn("rms_norm/eps_2e-05", truth.class_of("rms_norm/eps_0", "small"))
        self.assertTrue(truth.is_defect("eps_missing", "rms_norm/eps_0", "small"))
        self.assertFalse(truth.is_defect("weight_ignored", "rms_norm/eps_0", "small"))

    def test_doubles_are_neither_of_their_parts(self):
        double = next(j for j in self.norm.jobs("doubles")).subject
        case = self.norm.truth.chosen(double)[0]
        for part in double.parts:
            self.assertFalse(self.norm.truth.same(part.name, double.name, case))

    def test_the_held_out_half_is_not_written(self):
        output = Path(self.folder.name) / "report"
        command = [sys.executable, HERE / "run", "--sextant", SEXTANT, "--operation",
                   "alibi_slopes", "--all", "--work", self.folder.name, "-o", output]
        run = subprocess.run(command, capture_output=True, text=True)
        self.assertIn("held-out half", run.stdout, run.stderr)
        names = [row["name"] for row in json.loads(Path(f"{output}.json").read_text())["seen"]]
        self.assertTrue(names)
        for name in SINGLES:
            if name.startswith("alibi_slopes/"):
                self.assertEqual(name in names, not held_out(name))
                self.assertFalse(held_out(name) and name in run.stdout)


if __name__ == "__main__":
    unittest.main()
