"""Tests of `sextant judge`: tensors of one's own in .npy, safetensors and HDF5 files.

    SEXTANT=build/sextant python3 tools/cli/judge_test.py
"""

import json
import math
import shlex
import struct
import subprocess
import unittest

import h5py
import numpy
from program import PROGRAM, ProgramTest

NAMES = {"float64": "F64", "float32": "F32", "float16": "F16", "int64": "I64", "int32": "I32"}


def rope(x, position, base=10000.0):
    """Rotates x [B,H,S,D] with pairing=half, in f64, rounded to the dtype of x."""
    half = x.shape[-1] // 2
    angle = position[:, None, :, None] * base ** (-numpy.arange(half) / half)
    a, b = x[..., :half].astype("f8"), x[..., half:].astype("f8")
    cos, sin = numpy.cos(angle), numpy.sin(angle)
    return numpy.concatenate([a * cos - b * sin, b * cos + a * sin], -1).astype(x.dtype)


class Judge(ProgramTest):
    def setUp(self):
        super().setUp()
        generator = numpy.random.default_rng(1)
        self.x = generator.standard_normal((1, 2, 5, 8)).astype("f4")
        self.position = numpy.arange(5)[None]
        self.y = rope(self.x, self.position)

    def save(self, **tensors):
        for name, tensor in tensors.items():
            numpy.save(self.path(name + ".npy"), tensor)

    def write_safetensors(self, name, tensors):
        header, body = {"__metadata__": {"a": "b"}}, b""
        for key, tensor in tensors.items():
            end = len(body) + tensor.nbytes
            header[key] = {"dtype": NAMES[tensor.dtype.name], "shape": tensor.shape,
                           "data_offsets": [len(body), end]}
            body += tensor.tobytes()
        text = json.dumps(header).encode()
        self.path(name).write_bytes(struct.pack("<Q", len(text)) + text + body)

    def judge(self, *words, question="rope pairing=half"):
        return self.run_it("judge", question, *words)

    def assert_conforms(self, *words, **options):
        result = self.judge(*words, **options)
        self.assertEqual((result.returncode, result.stderr), (0, ""), result.stdout)
        return result.stdout

    def assert_refused(self, message, *words, **options):
        result = self.judge(*words, **options)
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertIn(message, result.stderr)

    def test_right_tensors_conform(self):
        self.save(x=self.x, position=self.position, y=self.y)
        text = self.assert_conforms("x=x.npy", "position=position.npy", "y=y.npy")
        self.assertIn("rope pairing=half base=10000 scaling=none offset=0 direction=forward B=1 D=8 "
                      "H=2 R=8 S=5 dtype=f32", text)
        self.assertIn("the default: R=8", text)
        self.assertIn("80 of 80 elements judged", text)

    def test_a_number_that_the_inputs_cannot_show_is_named(self):
        self.save(x=self.x, position=0 * self.position, y=self.x)
        words = ["x=x.npy", "position=position.npy", "y=y.npy"]
        text = self.assert_conforms(*words, "--json", "r.json")
        self.assertIn("\nthese inputs cannot show a wrong number: base=100000 conforms too\n", text)
        self.assertEqual(json.loads(self.path("r.json").read_text())["unshown"], ["base=100000"])
        self.save(position=self.position, y=self.y)
        self.assertNotIn("cannot show", self.assert_conforms(*words))

    def test_every_form_of_a_file_holds_the_same_tensors(self):
        with h5py.File(self.path("t.h5"), "w") as file:
            file["deep/x"] = self.x
        self.write_safetensors("t.safetensors", {"p": self.position.astype("i4"), "y": self.y})
        self.assert_conforms("x=t.h5:/deep/x", "position=t.safetensors:p", "y=t.safetensors:y")

    def test_a_safetensors_file_has_all_tensors(self):
        self.write_safetensors("a=b.safetensors", {"x": self.x, "position": self.position, "y": self.y})
        self.assert_conforms("a=b.safetensors")
        self.write_safetensors("two.safetensors", {"x": self.x, "z": self.y})
        self.assert_refused("rope has no tensor 'z'", "two.safetensors")
        self.assert_refused("x is given twice", "a=b.safetensors", "x=two.safetensors:x")
        self.assert_refused("no.safetensors: ", "no.safetensors")

    def test_a_budget_judges_a_part(self):
        self.save(x=self.x, position=self.position, y=self.y)
        words = ["x=x.npy", "position=position.npy", "y=y.npy"]
        text = self.assert_conforms(*words, "--budget-elements", "16", "--seed", "5")
        self.assertIn(" in the part that was judged: rope ", text)
        self.assertIn("16 of 80 elements judged, 64 left out; the part was chosen with seed 5\n", text)
        self.save(y=-self.y)
        result = self.judge(*words, "--budget-elements", "16", "--seed", "5")
        self.assertEqual(result.returncode, 1)
        self.assertIn("16 of 16 elements of y fail", result.stdout)
        self.assertTrue(result.stdout.endswith(" --budget-elements 16 --seed 5\n"), result.stdout)
        result = self.judge(*words, "--seed", "5")
        self.assertEqual(result.returncode, 2)
        self.assertIn("--seed requires --budget-elements", result.stderr)

    def test_words_of_the_question_need_no_quotes(self):
        self.save(x=self.x, position=self.position, y=self.y)
        result = self.run_it("judge", "rope", "pairing=half", "theta=10000", "x=x.npy", "position=position.npy",
                             "y=y.npy")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertIn("\ntheta=10000 is called base=10000 here\n", result.stdout)
        self.assert_refused("yy.npy: there is no such file (did you mean 'y.npy'?)", "x=x.npy",
                            "position=position.npy", "y=yy.npy")

    def test_leading_axes_are_rows(self):
        x = numpy.arange(24, dtype="f4").reshape(2, 3, 4)
        y = x.astype("f8") / (1 + numpy.exp(-x.astype("f8")))
        self.save(x=x, y=y.astype("f4"))
        text = self.assert_conforms("x=x.npy", "y=y.npy", question="silu")
        self.assertIn("the leading axes [2,3] are taken as N=6\n", text)
        y[1, 2, 3] += 1
        self.save(y=y.astype("f4"))
        result = self.judge("x=x.npy", "y (batch token F)=y.npy", question="silu")
        self.assertEqual(result.returncode, 1)
        self.assertIn("  y[batch=1,token=2,F=3]: got ", result.stdout)

    def test_a_layout_by_which_a_failing_answer_conforms(self):
        """With as many heads as positions, [B,S,H,D] has a shape that fits."""
        x = numpy.random.default_rng(2).standard_normal((1, 4, 4, 8)).astype("f4")
        position = numpy.arange(4)[None]
        y = rope(x.transpose(0, 2, 1, 3), position).transpose(0, 2, 1, 3)
        self.save(x=x, position=position, y=y)
        result = self.judge("x=x.npy", "position=position.npy", "y=y.npy", "--json", "a.json")
        self.assertEqual(result.returncode, 1)
        self.assertIn("conforms if the axes are in another order, which their names say: 'x (B S H D)' "
                      "'y (B S H D)'\n", result.stdout)
        self.assertNotIn("likely cause", result.stdout)
        self.assertEqual(json.loads(self.path("a.json").read_text())["layout"],
                         " 'x (B S H D)' 'y (B S H D)'")
        self.assert_conforms("x (B S H D)=x.npy", "position=position.npy", "y (B S H D)=y.npy")
        self.save(y=y * numpy.float32(1.5))
        text = self.judge("x=x.npy", "position=position.npy", "y=y.npy").stdout
        self.assertNotIn("another order", text)

    def test_fortran_order_and_layouts(self):
        self.save(x=numpy.asfortranarray(self.x), position=self.position[0].astype("u1"),
                  y=self.y[0].transpose(1, 0, 2))
        self.assert_conforms("x=x.npy", "position (S)=position.npy", "y (S H D)=y.npy")

    # Debian's numpy has no bf16: its values are in f32.
    def test_values_of_bf16_in_f32(self):
        def to_bf16(x):
            bits = x.astype("f4").view("u4").astype("u8")
            return (((bits + 0x7FFF + (bits >> 16 & 1)) >> 16) << 16).astype("u4").view("f4")

        x = to_bf16(self.x)
        self.save(x=x, position=self.position, y=to_bf16(rope(x.astype("f8"), self.position)), f=self.y)
        words = ["x=x.npy", "position=position.npy"]
        self.assertIn("dtype=bf16", self.assert_conforms(*words, "y=y.npy",
                                                         question="rope pairing=half dtype=bf16"))
        self.assert_refused("expected a value of bf16, or dtype.y= in the question", *words, "y=f.npy",
                            question="rope pairing=half dtype=bf16")

    def test_a_wrong_answer_fails_with_its_cause_and_a_command_that_repeats_it(self):
        self.save(x=self.x, position=self.position, y=rope(self.x, self.position + 1))
        result = self.judge("x=x.npy", "position=position.npy", "y=y.npy", "--json", "report.json")
        self.assertEqual(result.returncode, 1)
        self.assertIn("likely cause: position_off_by_one", result.stdout)
        repeat = result.stdout.split("repeat: ")[1].splitlines()[0]
        again = subprocess.run([PROGRAM, *shlex.split(repeat)[1:]], cwd=self.folder.name,
                               capture_output=True, text=True)
        self.assertEqual((again.returncode, again.stdout), (1, result.stdout))
        report = json.loads(self.path("report.json").read_text())
        self.assertEqual((report["status"], report["tensors"][0]["failed"]), ("fails", 80))
        self.assertEqual(result.stdout, report["text"])

    def test_a_failure_names_the_indices_that_fail(self):
        self.y[:, :, 2:4, 5] += 1
        self.save(x=self.x, position=self.position, y=self.y)
        result = self.judge("x=x.npy", "position=position.npy", "y=y.npy")
        self.assertIn("4 of 80 elements of y fail; all at S=2..3 D=5 pair=1\n", result.stdout)
        self.assertIn("conforms by no other recipe that was tried", result.stdout)

    def test_a_question_without_elements_has_no_verdict(self):
        self.save(x=self.x[:, :0], position=self.position, y=self.y[:, :0])
        result = self.judge("x=x.npy", "position=position.npy", "y=y.npy")
        self.assertEqual(result.returncode, 4)

    def test_a_failure_names_the_recipe_by_which_the_answer_conforms(self):
        x = (self.x * 8).astype("f2")
        self.position[0] += 8000
        half = 4
        angle = (self.position[:, None, :, None].astype("f4")
                 * (numpy.float32(10000) ** (-numpy.arange(half, dtype="f4") / half))).astype("f4")
        cos, sin = numpy.cos(angle).astype("f2"), numpy.sin(angle).astype("f2")
        a, b = x[..., :half], x[..., half:]
        y = numpy.concatenate([a * cos - b * sin, b * cos + a * sin], -1)
        self.save(x=x, position=self.position, y=y)
        words = ["x=x.npy", "position=position.npy", "y=y.npy"]
        result = self.judge(*words, "--recipe", "exact_table")
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stdout, "\nconforms by `exact_table rotate=T`, which permits [0-9.]+ times as much, if that says")
        self.assert_conforms(*words)

    def test_a_failure_names_recipes_of_known_implementations(self):
        x = numpy.linspace(-4, 4, 64, dtype="f4").reshape(2, 32)
        erf = numpy.vectorize(math.erf)(x / math.sqrt(2)) + 2.0 ** -22  # an absolute error
        self.save(x=x, y=(x * (1 + erf) / 2).astype("f4"))
        words = ["x=x.npy", "y=y.npy"]
        result = self.judge(*words, question="activation kind=gelu")
        self.assertIn("conforms by `native activation=f32:erf_absolute/4`, which permits ", result.stdout)

    def test_a_configuration_completes_the_question(self):
        self.path("config.json").write_text(json.dumps(
            {"model_type": "llama", "hidden_size": 16, "num_attention_heads": 2, "head_dim": 8,
             "rope_theta": 500000.0, "num_hidden_layers": 1, "max_position_embeddings": 128}))
        self.save(x=self.x, position=self.position, y=rope(self.x, self.position, 500000.0))
        words = ["x=x.npy", "position=position.npy", "y=y.npy", "--config", "config.json"]
        self.assertIn("base=500000", self.assert_conforms(*words, question="rope"))
        in_question = self.assert_conforms(*words[:3], question="rope config=config.json")
        self.assertIn("base=500000", in_question)
        self.assert_refused("config=b.json, but config is already config.json", *words,
                            question="rope config=b.json")
        self.assert_refused("expected config=FILE too", *words[:3], question="rope layer=0")
        self.assert_refused("layer= without a value", *words[:3], question="rope layer=")
        self.save(x=self.x[..., :4])
        self.assert_refused("but D=8 is stated; with config.json the question is 'rope ", *words,
                            question="rope")

    def test_a_configuration_does_not_give_the_number_of_heads_of_queries_or_keys(self):
        self.path("config.json").write_text(json.dumps(
            {"model_type": "llama", "hidden_size": 32, "num_attention_heads": 4, "head_dim": 8,
             "rope_theta": 10000.0, "num_hidden_layers": 1, "max_position_embeddings": 128}))
        self.save(x=self.x, position=self.position, y=self.y)
        self.assert_conforms("x=x.npy", "position=position.npy", "y=y.npy", question="rope config=config.json")

    def test_wrong_calls_are_refused_with_one_line(self):
        self.save(x=self.x, position=self.position, y=self.y, f=self.position * 1.0)
        inputs = ["x=x.npy", "position=position.npy"]
        self.assert_refused("expected NAME=FILE", "x.npy")
        self.assert_refused("no.npy: there is no such file", "x=no.npy", "y=y.npy")
        self.assert_refused("expected FILE.npy, FILE.safetensors:NAME or FILE.h5:/PATH", "x=x.pt")
        self.assert_refused("rope needs the input position", "x=x.npy", "y=y.npy")
        self.assert_refused("rope needs the output y; its signature is x[B,H,S,D]", *inputs)
        self.assert_refused("position holds f64, expected integers", "x=x.npy", "position=f.npy",
                            "y=y.npy")
        self.assert_refused("but D=4 is stated", *inputs, "y=y.npy",
                            question="rope pairing=half D=4")
        self.assert_refused("there is no operation 'rop'", *inputs, question="rop")
        self.assert_refused("'no'", *inputs, "y=y.npy", "--recipe", "no")

    def test_damaged_safetensors_files_are_refused(self):
        header = json.dumps({"x": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}).encode()
        whole = struct.pack("<Q", len(header)) + header + bytes(8)
        for damaged in [b"", whole[:4], whole[:20], whole[:-1], whole + b"x",
                        struct.pack("<Q", 1 << 62) + whole[8:]]:
            self.path("x.safetensors").write_bytes(damaged)
            self.assert_refused("x.safetensors: ", "x=x.safetensors:x")
        self.path("x.safetensors").write_bytes(whole)
        self.assert_refused("has no tensor 'y'; it has: x", "x=x.safetensors:y")


if __name__ == "__main__":
    unittest.main()
