"""Tests of `sextant identify --against` with configurations of released models.

    SEXTANT=build/sextant python3 tools/cli/identify_models_test.py

The subjects compute in numpy by the formulas of the papers, and share no code with the program.
"""

import json
import pathlib
import shutil
import unittest

from program import ProgramTest

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODELS = ROOT / "fixtures/models"
ADAPTER = ROOT / "tools/adapters/python/sextant_adapter.py"

# Rotary embedding in f64, in halves or interleaved, by a list of frequencies; RMSNorm with an eps;
# attention whose queries are the last ones, and gated units.
BOX = """
import json
import sys

import numpy as np
from sextant_adapter import round_to, serve

told = json.loads(sys.argv[1])

def powers(R, base):
    return base ** (-np.arange(R // 2) * 2.0 / R)

def llama3(R, base=500000.0, factor=8.0, L=8192.0, low=1.0, high=4.0):
    f = powers(R, base)
    wave = 2 * np.pi / f
    m = np.clip((L / wave - low) / (high - low), 0, 1)
    return (1 - m) * f / factor + m * f, 1.0

def yarn(R, base, factor, L, beta_fast=32.0, truncate=True, amplitude=None):
    f, k = powers(R, base), np.arange(R // 2)
    limit = [R * np.log(L / (beta * 2 * np.pi)) / (2 * np.log(base)) for beta in (beta_fast, 1.0)]
    low, high = (np.floor(limit[0]), np.ceil(limit[1])) if truncate else limit
    ramp = np.clip((k - max(low, 0)) / (min(high, R - 1) - max(low, 0)), 0, 1)
    return f / factor * ramp + f * (1 - ramp), amplitude or 0.1 * np.log(factor) + 1

def longrope(R, base, factors, L, factor):
    return powers(R, base) / np.array(factors), np.sqrt(1 + np.log(factor) / np.log(L))

def plain(R, base):
    return powers(R, base), 1.0

def rope(x, position, dtype, **unset):
    R = x.shape[-1]
    f, amplitude = globals()[told["form"]](R, **told["with"])
    angle = position[..., None].astype(np.float64) * f
    cos, sin = amplitude * np.cos(angle)[:, None], amplitude * np.sin(angle)[:, None]
    first = slice(0, R, 2) if told.get("interleaved") else slice(0, R // 2)
    second = slice(1, R, 2) if told.get("interleaved") else slice(R // 2, R)
    a, b = x[..., first].astype(np.float64), x[..., second].astype(np.float64)
    y = x.astype(np.float64)
    y[..., first], y[..., second] = a * cos - b * sin, b * cos + a * sin
    return round_to(y, dtype)

def rms_norm(x, weight, dtype, **unset):
    mean = np.mean(x.astype(np.float64) ** 2, -1, keepdims=True)
    weight = weight.astype(np.float64) + told["offset"]
    return round_to(x / np.sqrt(mean + told["eps"]) * weight, dtype)

def attention(q, k, v, dtype, **unset):
    q, k, v = (t.astype(np.float64) for t in (q, k, v))
    k, v = (np.repeat(t, q.shape[1] // k.shape[1], 1) for t in (k, v))
    score = told["scale"] * np.einsum("bhsd,bhtd->bhst", q, k)
    if "cap" in told:
        score = told["cap"] * np.tanh(score / told["cap"])
    S, T = score.shape[-2:]
    distance = np.arange(S)[:, None] + T - S - np.arange(T)
    score = np.where((distance >= 0) & (distance < told.get("window", T)), score, -np.inf)
    weight = np.exp(score - score.max(-1, keepdims=True))
    return {"y": round_to(weight / weight.sum(-1, keepdims=True) @ v, dtype)}

def gated(gate, up, dtype, **unset):
    gate, up = gate.astype(np.float64), up.astype(np.float64)
    if "limit" in told:
        gate, up = np.minimum(gate, told["limit"]), np.clip(up, -told["limit"], told["limit"])
    swish = gate / (1 + np.exp(-told.get("alpha", 1.0) * gate))
    return round_to(swish * (up + told.get("one", 0)), dtype)

serve({"rope": rope, "rms_norm": rms_norm, "attention": attention, "gated": gated}, recipe="exact", name="box", version="1")
"""


class IdentifyModels(ProgramTest):
    def identify(self, line, model, told, *options):
        shutil.copy(ADAPTER, self.folder.name)
        self.path("box.py").write_text(BOX)
        subject = f"exec:/usr/bin/python3 box.py '{json.dumps(told)}'"
        result = self.run_it("identify", line, "--subject", subject, "--json", "i.json",
                             "--against", str(MODELS / f"{model}.json"), *options)
        self.assertIn(result.returncode, (0, 1), result.stderr)
        found = json.loads(self.path("i.json").read_text())
        return result, {each["attribute"] for each in found["differences"]}

    # The honest subject agrees; the changed one differs in these attributes.
    def expect(self, line, model, honest, changed, attributes, *options):
        result, differences = self.identify(line, model, honest, *options)
        self.assertEqual(differences, set(), result.stdout)
        self.assertIn("agrees with ", result.stdout)
        self.assertEqual(result.returncode, 0, result.stdout)
        result, differences = self.identify(line, model, changed, *options)
        self.assertEqual(differences, attributes, result.stdout)
        self.assertEqual(result.returncode, 1, result.stdout)
        return result.stdout

    def test_llama_3_1_without_its_scaling(self):
        self.expect("rope H=2", "llama3_1_8b", {"form": "llama3", "with": {}},
                    {"form": "plain", "with": {"base": 500000.0}}, {"scaling"})

    def test_qwen_with_another_base(self):
        self.expect("rope H=2 dtype=bf16", "qwen3_8b", {"form": "plain", "with": {"base": 1e6}},
                    {"form": "plain", "with": {"base": 10000.0}}, {"base"})

    def test_gemma_norm_without_its_offset(self):
        self.expect("rms_norm M=64", "gemma2_9b", {"eps": 1e-6, "offset": 1},
                    {"eps": 1e-6, "offset": 0}, {"unit_offset"})

    def test_deepseek_in_halves(self):
        yarn = {"form": "yarn", "with": {"base": 10000.0, "factor": 40.0, "L": 4096.0,
                                         "amplitude": 1.0}}
        self.expect("rope H=2", "deepseek_v3", {**yarn, "interleaved": True}, yarn, {"pairing"})

    def test_gpt_oss_with_rounded_limits(self):
        numbers = {"base": 150000.0, "factor": 32.0, "L": 4096.0}
        out = self.expect("rope H=2", "gpt_oss_20b",
                          {"form": "yarn", "with": {**numbers, "truncate": False}},
                          {"form": "yarn", "with": numbers}, {"scaling"})
        self.assertIn("truncate=true", out)

    def test_phi_with_the_long_list(self):
        scaling = json.loads((MODELS / "phi3_5_mini.json").read_text())["rope_scaling"]
        short, long = ({"form": "longrope", "with": {"base": 10000.0, "factors": scaling[name],
                                                     "L": 4096.0, "factor": 32.0}}
                       for name in ("short_factor", "long_factor"))
        self.expect("rope H=2", "phi3_5_mini", short, long, {"seq_len"})

    def test_llama_attention_without_its_scale(self):
        out = self.expect("attention D=16 H=2 K=1", "llama3_1_8b", {"scale": 0.25}, {"scale": 1.0},
                          {"scale"})
        self.assertNotIn("not compared", out)

    # The row of Gemma 2 does not tell layers with a window from others.
    def test_gemma_attention_with_another_cap(self):
        out = self.expect("attention D=16 H=2 K=1", "gemma2_9b", {"scale": 0.0625, "cap": 50.0},
                          {"scale": 0.0625, "cap": 30.0}, {"soft_cap"})
        self.assertIn("not compared, as the configuration does not say it: window\n", out)

    def test_a_window_wider_than_the_keys_is_not_shown(self):
        line, told = "attention D=16 H=2 K=1 T=19", {"scale": 0.0625}
        result, differences = self.identify(line, "gemma3_4b", {**told, "window": 1024},
                                            "--layer", "sliding_attention")
        self.assertEqual(differences, set(), result.stdout)
        self.assertIn("these answers do not show the model's window=[1023,-1]\n", result.stdout)
        result, differences = self.identify(line, "gemma3_4b", {**told, "window": 9}, "--layer", "0")
        self.assertEqual(differences, {"window"}, result.stdout)
        self.assertIn("window=[8,-1], but the model has window=[1023,-1]", result.stdout)
        self.assertNotIn("these answers do not show", result.stdout)

    def test_phi_attention_whose_scale_is_not_in_its_row(self):
        result, differences = self.identify("attention D=4 E=2 S=3 T=5", "phi3_mini_4k",
                                            {"scale": 0.5})
        self.assertEqual(differences, set(), result.stdout)
        self.assertIn("not compared, as the configuration does not say it: scale soft_cap mask "
                      "window chunk\n", result.stdout)

    def test_llama_gate_with_the_limits_of_gpt_oss(self):
        gpt_oss = {"limit": 7.0, "alpha": 1.702, "one": 1}
        self.expect("gated", "gpt_oss_20b", gpt_oss, {**gpt_oss, "limit": 5.0}, {"limit"})
        self.expect("gated", "llama2_7b", {}, {"one": 1}, {"plus_one"})

    def test_nothing_to_compare(self):
        result = self.run_it("identify", "gated", "--subject", "fast", "--against",
                             str(MODELS / "pythia_6_9b.json"))
        self.assertEqual(result.returncode, 2)
        self.assertIn("the configuration says nothing about gated", result.stderr)


if __name__ == "__main__":
    unittest.main()
