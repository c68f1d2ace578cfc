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

    def test_defaults_are_those_of_the_function(self):
        box = BOX.replace("def rope(x, position, dtype, **unset)", "def rope(x, position, dtype, base=777.0, H=0)")
        result, found = self.identify("rope D=16", box=box.replace("12345.0", "(base + H)"))
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertIn(" base=777 ", found["case"])

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

    def test_says_which_key_heads_are_read_where_nothing_fits(self):
        result, found = self.identify("attention D=8", box=BOX.replace("= 0.3 *", "= np.sqrt(2) **"))
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        self.assertIn("no attributes of attention give these answers", result.stdout)
        self.assertEqual(found["key_heads"], [0, 1, 0, 1])
        self.assertIn("but query head h reads key head h mod 2", result.stdout)

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

    # The base of 10000^(16/14) gives the same frequencies.
    def test_a_known_defect_is_simpler_than_a_base_of_many_digits(self):
        box = BOX.replace("12345.0 ** (-np.arange(half) / half)", "10000.0 ** (-np.arange(half) / (half - 1))")
        result, found = self.identify("rope D=16", box=box)
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertIn("rope pairing=interleaved D=16 ", found["case"])
        self.assertIn("likely cause: exponent_to_last ", result.stdout)

    # Limits between 2048 / 24 and 2048 / 2 rotations, which are truncated to whole pairs; fitted limits
    # that are not truncated give the same frequencies.
    def test_limits_of_a_ramp_are_numbers_that_somebody_chose(self):
        box = BOX.replace("12345.0 ** (-np.arange(half) / half)", """(1e4 ** (-np.arange(half) / half)
        * (1 - 7 / 8 * np.clip((np.arange(half) - LOW) / (HIGH - LOW), 0, 1)))""")
        box = box.replace("cos, sin = np.cos", "cos, sin = (1 + 0.1 * np.log(8)) * np.cos")
        box = box.replace(" np.sin(angle)", " (1 + 0.1 * np.log(8)) * np.sin(angle)")
        limit = "half * np.log(2048 / (%d * 2 * np.pi)) / np.log(1e4)"
        box = box.replace("LOW", f"np.floor({limit % 24})").replace("HIGH", f"np.ceil({limit % 2})")
        result, found = self.identify("rope D=64", box=box)
        self.assertEqual(result.returncode, 0, result.stdout)
        for word in ("factor=8", "original_max_position_embeddings=2048", "truncate=true"):
            self.assertIn(word, found["case"])

    # `sum=bf16` permits it; the cause is another.
    def test_a_recipe_that_permits_a_bug_is_no_identification(self):
        box = BOX.replace("mean = np.mean(x.astype(np.float64) ** 2, -1, keepdims=True)",
                          "mean = np.sum(x.astype(np.float64) ** 2, -1, keepdims=True) / (x.shape[-1] - 1)")
        result, found = self.identify("rms_norm M=128", "--recipe", "native", box=box)
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertFalse(found["conforms"])
        self.assertIn("likely cause: mean_over_one_less ", result.stdout)

    def test_says_how_much_another_recipe_permits(self):
        box = BOX.replace("cos, sin = np.cos(angle)[:, None], np.sin(angle)[:, None]",
                          "cos, sin = bf16(np.cos(angle))[:, None], bf16(np.sin(angle))[:, None]")
        box = box.replace("12345.0", "10000.0").replace("def rope(", """def bf16(numbers):
    bits = numbers.astype(np.float32).view(np.uint32)
    return ((bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000).astype(np.uint32).view(np.float32)

def rope(""")
        result, found = self.identify("rope D=16", "--recipe", "native", box=box)
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertIn("conforms by native table=bf16", result.stdout)
        self.assertRegex(result.stdout, r"by native it fails; conforms by `native table=bf16`, which permits \S+ times as much")

    # Small questions show the base, larger ones what else is wrong.
    def test_names_a_base_and_what_is_wrong_besides(self):
        box = BOX.replace("angle = position[", "angle = np.minimum(position, 1000)[")
        box = box.replace("[..., 0::2]", "[..., :half]").replace("[..., 1::2]", "[..., half:]")
        for base in ("10000.0", "500000.0"):
            result, found = self.identify("rope D=16", box=box.replace("12345.0", base))
            self.assertEqual(result.returncode, 1)
            self.assertIn("likely cause: position_clamped (positions above 1000 act as 1000",
                          result.stdout)
            if base == "500000.0":
                self.assertIn("rope pairing=half base=500000 D=16 ", found["case"])

    def test_a_number_of_the_model_that_conforms_is_no_difference(self):
        self.path("config.json").write_text(json.dumps(
            {"model_type": "gemma2", "hidden_size": 32, "num_attention_heads": 4, "head_dim": 16,
             "num_key_value_heads": 2, "query_pre_attn_scalar": 224, "attn_logit_softcapping": None}))
        box = BOX.replace("0.3 *", "224 ** -0.5 *").replace("% k.shape[1]", "* k.shape[1] // q.shape[1]")
        result, found = self.identify("attention", "--against", "config.json", box=box)
        self.assertNotIn("scale", [one["attribute"] for one in found["differences"]], result.stdout)

    def test_nothing_is_no_rotation(self):
        for wrong in ("0 * x", "x"):
            box = BOX.replace("return round_to(y, dtype)", f"return round_to({wrong}, dtype)", 1)
            result, found = self.identify("rope D=16", box=box)
            self.assertEqual(result.returncode, 1, result.stdout)
            self.assertFalse(found["conforms"])

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
