"""Tests of `sextant answer` and `sextant ask`.

    SEXTANT=build/sextant python3 tools/cli/answer_test.py
"""

import json
import pathlib
import subprocess
import sys
import unittest

import h5py

from program import ONE_CASE, ProgramTest

ADAPTER = pathlib.Path(__file__).resolve().parents[1] / "adapters/python"
# Answers rms_norm in f32; declines wide rows and fails for a single row of width 3.
SUBJECT = f"""
import sys
sys.path.insert(0, {str(ADAPTER)!r})
import numpy, sextant_adapter
def rms_norm(x, weight, eps, unit_offset, dtype):
    if x.shape[1] > 4:
        raise sextant_adapter.Unsupported("rows of at most 4 elements")
    if x.shape[1] == 3:
        raise ValueError("cannot do it")
    y = x / numpy.sqrt(numpy.mean(x * x, -1, keepdims=True) + numpy.float32(eps)) * weight
    return {{"y": y if x.shape[1] < 4 else y[:, :2]}}
sextant_adapter.serve({{"rms_norm": rms_norm}}, name="mine", version="1", recipe="f32_compute")
"""


class AnswerTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.path("subject.py").write_text(SUBJECT)
        self.subject = ("--subject", f"exec:{sys.executable} subject.py")


class Answer(AnswerTest):
    def test_answers_are_judged_later_by_the_recipe_of_their_subject(self):
        cases = (ONE_CASE, "rms_norm N=2 M=2", "rope pairing=half H=1 S=2 D=4")
        result = self.run_it("answer", *cases[:2], *self.subject, "-o", "a.h5")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(result.stdout, f"a.h5: 2 of 2 cases answered by {self.subject[1]}, "
                                        "recipe f32_compute\n")
        with h5py.File(self.path("a.h5")) as file:
            self.assertEqual(list(file["cases/0000"]), ["outputs"])
            self.assertEqual(file["cases/0001/outputs/y"].shape, (2, 2))
        result = self.run_it("check", *cases[:2], "--subject", "files:a.h5")
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertIn("files:a.h5 by recipe f32_compute: 2 cases", result.stdout)
        # A case without an answer is unsupported.
        result = self.run_it("check", *cases, "--subject", "files:a.h5")
        self.assertEqual(result.returncode, 5)
        self.assertIn("has no output for this case", result.stdout)

    def test_wrong_answers_are_stored_and_fail_later(self):
        defect = "defect:rms_norm/mean_subtracted"
        self.assertEqual(self.run_it("answer", "rms_norm N=2 M=4", "--subject", defect, "-o",
                                     "a.h5").returncode, 0)
        result = self.run_it("check", "rms_norm N=2 M=4", "--subject", "files:a.h5")
        self.assertEqual(result.returncode, 1)
        self.assertIn("likely cause: mean_subtracted", result.stdout)
        self.run_it("golden", "rms_norm N=2 M=4", "-o", "g.h5")
        result = self.run_it("compare", "g.h5", "a.h5")
        self.assertEqual(result.returncode, 1)
        self.assertIn("1 datasets in both, 1 differ", result.stdout)

    def test_unsupported_cases_are_named_and_counted(self):
        result = self.run_it("answer", ONE_CASE, "rms_norm N=1 M=5", "softmax N=1 M=2", *self.subject,
                             "-o", "a.h5")
        self.assertEqual(result.returncode, 5)
        self.assertIn("unsupported rms_norm eps=1e-05 unit_offset=false M=5 N=1 dtype=f32 seed=1\n"
                      "  rows of at most 4 elements\n", result.stdout)
        self.assertIn("unsupported softmax M=2 N=1", result.stdout)
        self.assertIn("a.h5: 1 of 3 cases answered by", result.stdout)
        self.assertIn("; 2 unsupported\n", result.stdout)
        with h5py.File(self.path("a.h5")) as file:
            self.assertEqual(list(file["cases"]), ["0000"])

    def test_failures_of_the_subject_are_named_and_counted(self):
        result = self.run_it("answer", ONE_CASE, "rms_norm N=1 M=3", "rms_norm N=1 M=4",
                             "rms_norm N=1 M=5", *self.subject, "-o", "a.h5")
        self.assertEqual(result.returncode, 3)
        self.assertIn("cannot do it", result.stdout)
        self.assertIn("expected (1, 4)", result.stdout)
        self.assertIn("a.h5: 1 of 4 cases answered by", result.stdout)
        self.assertIn("; 1 unsupported; 2 ", result.stdout)

    def test_without_an_answer_no_file_is_replaced(self):
        self.path("a.h5").write_text("old")
        for case, status in ("rms_norm N=1 M=5", 5), ("rms_norm N=1 M=3", 3):
            result = self.run_it("answer", case, *self.subject, "-o", "a.h5")
            self.assertEqual((result.returncode, self.path("a.h5").read_text()), (status, "old"))
            self.assertIn("sextant: a.h5 is not written: no case was answered\n", result.stderr)

    def test_a_subject_that_cannot_be_run_is_an_error(self):
        result = self.run_it("answer", ONE_CASE, "--subject", "exec:false", "-o", "a.h5")
        self.assertEqual((result.returncode, result.stdout, self.files()), (3, "", ["subject.py"]))
        result = self.run_it("answer", ONE_CASE, "--subject", "no", "-o", "a.h5")
        self.assertEqual((result.returncode, self.files()), (2, ["subject.py"]))
        result = self.run_it("answer", ONE_CASE, *self.subject, "-o", "onnx:a")
        self.assertEqual(result.returncode, 2)
        self.assertIn("only `sextant golden` writes ONNX node tests", result.stderr)

    def test_what_a_subject_writes_after_its_last_answer_is_an_error(self):
        path = self.path("subject.py")
        path.write_text(path.read_text() + "import os; os.write(1, b'surplus')\n")
        text = path.read_text().replace("sextant_adapter.serve(", "import os; out = os.dup(1)\nsextant_adapter.serve(")
        path.write_text(text.replace("os.write(1,", "os.write(out,"))
        result = self.run_it("answer", ONE_CASE, *self.subject, "-o", "a.h5")
        self.assertEqual(result.returncode, 3, result.stdout)
        self.assertIn("after the last case", result.stdout)

    def test_files_with_several_recipes_are_refused(self):
        self.run_it("answer", ONE_CASE, "rms_norm N=2 M=2", *self.subject, "-o", "a.h5")
        with h5py.File(self.path("a.h5"), "a") as file:
            file["cases/0001"].attrs["recipe"] = "native"
        result = self.run_it("check", ONE_CASE, "--subject", "files:a.h5")
        self.assertEqual(result.returncode, 3)
        self.assertIn("a.h5 has answers by the recipes 'f32_compute' and 'native', expected one recipe",
                      result.stderr)

    def test_answers_to_a_golden_file_use_its_inputs(self):
        self.run_it("golden", ONE_CASE, "-o", "g.h5")
        self.assertEqual(self.run_it("answer", "g.h5", *self.subject, "-o", "a.h5").returncode, 0)
        self.assertEqual(self.run_it("check", "g.h5", "--subject", "files:a.h5").returncode, 0)


class Ask(AnswerTest):
    def test_shows_the_question_and_the_answer(self):
        result = self.run_it("ask", ONE_CASE, *self.subject)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        lines = result.stdout.splitlines()
        self.assertEqual(lines[0], "rms_norm eps=1e-05 unit_offset=false M=2 N=1 dtype=f32 seed=1")
        self.assertEqual(lines[1], 'attributes and dimensions: {"eps":1e-05,"unit_offset":false,"M":2,"N":1}')
        self.assertEqual(lines[2], "inputs:")
        self.assertRegex(lines[3], r"^  x f32\[1,2\]: -0\.83687097 -0\.31084058$")
        self.assertRegex(lines[4], r"^  weight f32\[2\]: ")
        self.assertEqual(lines[5], "expected outputs: y f32[1,2]")
        self.assertRegex(lines[6], r"^answer of exec:.* by recipe f32_compute: ok, [0-9.e+]+ ms$")
        self.assertRegex(lines[7], r"^  y f32\[1,2\]: -1\.389\d* -0\.296\d*$")
        self.assertEqual(len(lines), 8)

    def test_optional_outputs_are_marked(self):
        result = self.run_it("ask", "attention S=2 H=1 D=2", "--subject", "recipe:native")
        self.assertIn("expected outputs: y f32[1,1,2,2] lse? f32[1,1,2]\n", result.stdout)

    def test_shows_why_there_is_no_answer(self):
        for case, status, word, why in (("rms_norm N=1 M=5", 5, "unsupported", "rows of at most 4"),
                                        ("softmax N=1 M=5", 5, "unsupported", "does not offer softmax"),
                                        ("rms_norm N=1 M=3", 3, "error", "cannot do it"),
                                        ("rms_norm N=1 M=4", 3, "error", "expected (1, 4)")):
            result = self.run_it("ask", case, *self.subject, "-o", "a.h5")
            self.assertEqual(result.returncode, status, result.stdout)
            self.assertIn(f": {word}, ", result.stdout)
            self.assertIn(why, result.stdout)
        self.assertEqual(self.files(), ["subject.py"])

    def test_json_has_every_number(self):
        result = self.run_it("ask", "rms_norm N=10 M=2", *self.subject, "--json")
        exchange = json.loads(result.stdout)
        self.assertEqual((exchange["status"], exchange["recipe"]), ("ok", "f32_compute"))
        self.assertEqual(exchange["attributes"], {"eps": 1e-05, "unit_offset": False, "M": 2, "N": 10})
        self.assertEqual((exchange["inputs"]["x"]["shape"], exchange["outputs"]["y"]["dtype"]),
                         ([10, 2], "f32"))
        self.assertEqual(len(exchange["outputs"]["y"]["value"]), 20)
        self.assertGreater(exchange["seconds"], 0)

    def test_stores_inputs_and_outputs(self):
        self.assertEqual(self.run_it("ask", ONE_CASE, *self.subject, "-o", "a.safetensors").returncode, 0)
        at = "a.safetensors:cases/0000"
        result = self.run_it("judge", "rms_norm", f"x={at}/inputs/x", f"weight={at}/inputs/weight",
                             f"y={at}/outputs/y")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_wrong_calls_are_refused(self):
        self.path("a.cases").write_text(f"{ONE_CASE}\nrms_norm N=2 M=2\n")
        for words, message in ((("a.cases",), "a.cases has 2 cases, expected one"),
                               (("rms_norm N=1",), "M"), (("rms_norm N=1 M=2", "-o", "a.x"), "ending .x")):
            result = self.run_it("ask", *words, *self.subject)
            self.assertEqual((result.returncode, result.stdout), (2, ""))
            self.assertIn(message, result.stderr)
        self.path("config.json").write_text(json.dumps(
            {"model_type": "llama", "hidden_size": 16, "num_attention_heads": 2, "rope_theta": 5e5,
             "num_hidden_layers": 1, "max_position_embeddings": 128}))
        result = self.run_it("ask", "rope S=1 H=1 D=8", "--config", "config.json", "--subject", "fast")
        self.assertIn('"base":500000', result.stdout)


if __name__ == "__main__":
    unittest.main()
