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

# Rotary embedding in f64, in halves or interleaved, by a list of frequencies; RMSNorm with an eps.
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

serve({"rope": rope, "rms_norm": rms_norm}, recipe="exact", name="box", version="1")
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


if __name__ == "__main__":
    unittest.main()
