"""Tests of `sextant identify` with black boxes in numpy, which share no code with the program.

    SEXTANT=build/sextant python3 tools/cli/identify_test.py
"""

import json
import pathlib
import shutil
import unittest

from program import ProgramTest

ADAPTER = pathlib.Path(__file__).resolve().parents[1] / "adapters/python/sextant_adapter.py"

# They take no notice of attributes, which are null in the questions.
BOX = """
import numpy as np
from sextant_adapter import round_to, serve

def rope(x, position, dtype, **unset):
    half = x.shape[-1] // 2
    angle = position[..., None].astype(np.float64) * 12345.0 ** (-np.arange(half) / half)
    cos, sin = np.cos(angle)[:, None], np.sin(angle)[:, None]
    a, b = x[..., 0::2].astype(np.float64), x[..., 1::2].astype(np.float64)
    y = np.empty(x.shape)
    y[..., 0::2], y[..., 1::2] = a * cos - b * sin, b * cos + a * sin
    return round_to(y, dtype)

def rms_norm(x, weight, dtype, **unset):
    mean = np.mean(x.astype(np.float64) ** 2, -1, keepdims=True)
    return round_to(x / np.sqrt(mean + 2e-6) * (1 + weight.astype(np.float64)), dtype)

# Query head h reads key head h mod K.
def attention(q, k, v, dtype, **unset):
    heads = np.arange(q.shape[1]) % k.shape[1]
    q, k, v = (t.astype(np.float64) for t in (q, k[:, heads], v[:, heads]))
    score = 0.3 * np.einsum("bhsd,bhtd->bhst", q, k)
    weight = np.exp(score - score.max(-1, keepdims=True))
    return {"y": round_to(weight / weight.sum(-1, keepdims=True) @ v, dtype)}

def activation(x, dtype, **unset):
    return round_to(np.maximum(x, 0).astype(np.float64) ** 3, dtype)

serve({"rope": rope, "rms_norm": rms_norm, "attention": attention, "activation": activation},
      recipe="f32_compute", name="box", version="1")
"""


class Identify(ProgramTest):
    def identify(self, line, *options, box=BOX):
        shutil.copy(ADAPTER, self.folder.name)
        self.path("box.py").write_text(box)
        result = self.run_it("identify", line, "--subject", "exec:/usr/bin/python3 box.py", "--json",
                             "i.json", *options)
        file = self.path("i.json")
        return result, json.loads(file.read_text()) if file.exists() else {}

    def test_finds_pairing_and_base(self):
        result, found = self.identify("rope D=16")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertIn("pairing=interleaved", found["case"])
        self.assertIn("base=12345", found["case"])
        self.assertEqual(found["recipe"], "exact")  # numpy computes in f64 and rounds once
        self.assertGreater(found["judged"], 1000)
        (base,) = (number for number in found["numbers"] if number["attribute"] == "base")
        self.assertLess(base["most"] - base["least"], 10)
        self.assertLess(base["least"], 12345)
        self.assertGreater(base["most"], 12345)

    def test_finds_an_eps_and_an_offset_of_weights(self):
        result, found = self.identify("rms_norm M=32")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertIn("eps=2e-06", found["case"])
        self.assertIn("unit_offset=true", found["case"])

    def test_says_which_key_heads_are_read(self):
        result, found = self.identify("attention D=8")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertIn("scale=0.3", found["case"])
        self.assertIn(" K=2 ", found["questions"][0])
        self.assertEqual(found["key_heads"], [0, 1, 0, 1])
        self.assertIn("but query head h reads key head h mod 2, not floor(h / (H/K))", result.stdout)

    def test_compares_with_a_model(self):
        self.path("config.json").write_text(json.dumps(
            {"model_type": "llama", "hidden_size": 32, "num_attention_heads": 2,
             "num_key_value_heads": 2, "num_hidden_layers": 1, "intermediate_size": 64,
             "vocab_size": 16, "hidden_act": "silu", "rms_norm_eps": 1e-6, "rope_theta": 12345.0,
             "max_position_embeddings": 2048}))
        result, found = self.identify("rope", "--against", "config.json")
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        self.assertEqual([difference["attribute"] for difference in found["differences"]],
                         ["pairing"])
        self.assertIn("differs from config.json: pairing=interleaved, but the model has pairing=half",
                      result.stdout)

    def test_says_that_nothing_fits(self):
        result, found = self.identify("activation")
        self.assertEqual(result.returncode, 1)
        self.assertFalse(found["conforms"])
        self.assertIn("no attributes of activation give these answers; the nearest are",
                      result.stdout)
        self.assertRegex(result.stdout, r"\d+ of 192 elements of y fail")

    def test_numbers_do_not_make_up_for_another_deviation(self):
        box = BOX.replace("position[..., None]", "(position[..., None] + 1)").replace("12345.0", "10000.0")
        result, found = self.identify("rope D=16", box=box)
        self.assertEqual(result.returncode, 1)
        self.assertIn("rope pairing=interleaved D=16 ", found["case"])
        self.assertIn("likely cause: position_off_by_one ", result.stdout)
        self.path("config.json").write_text(json.dumps(
            {"model_type": "llama", "hidden_size": 64, "num_attention_heads": 4, "head_dim": 16,
             "num_key_value_heads": 4, "rope_theta": 10000.0}))
        result, found = self.identify("rope", "--against", "config.json", box=box)
        self.assertNotIn("base", [one["attribute"] for one in found["differences"]])

    def test_names_what_is_wrong_in_the_call(self):
        result, _ = self.identify("rope D=7")
        self.assertEqual(result.returncode, 2)
        result, _ = self.identify("softmax")
        self.assertEqual(result.returncode, 2)
        self.assertIn("the subject does not answer softmax", result.stderr)


    def test_a_subject_that_cannot_be_run_is_asked_once(self):
        self.path("box.py").write_text(
            "import os\nfrom sextant_adapter import serve\n"
            "def rope(**question):\n    open('asked', 'a').write('x')\n    os._exit(3)\n"
            "serve({'rope': rope}, recipe='exact', name='box', version='1')\n")
        shutil.copy(ADAPTER, self.folder.name)
        result = self.run_it("identify", "rope D=8", "--subject", "exec:/usr/bin/python3 box.py")
        self.assertEqual(result.returncode, 3, result.stdout + result.stderr)
        self.assertIn("the subject could not be run: it exited with status 3", result.stderr)
        self.assertIn("asked: rope pairing=half", result.stderr)
        self.assertEqual(self.path("asked").read_text(), "x")


if __name__ == "__main__":
    unittest.main()
