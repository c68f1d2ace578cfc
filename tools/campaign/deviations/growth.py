"""Deviations of xpos' growth, and of tables that are asked for alone."""

import numpy as np

from deviation import Table
from stages import EXACT, changed

TABLE = Table()
CASES = "xpos xpos_key xpos_bf16"

for words, listed in ((dict(scale_base=300), ""), (dict(gamma=0.3), ""), (dict(gamma=0.5), ""),
                      (dict(scale_base=1024), ""), (dict(center=10), ""), (dict(center=-64), ""),
                      (dict(scale_base=2048), "scale_base=2048")):
    word, value = next(iter(words.items()))
    TABLE.add("xpos", f"{word}_{value}", word, changed(**words), CASES, listed=listed, value=value)
TABLE.add("xpos", "role_exchanged", "role", {"growth": lambda g, q: 1 / g}, CASES,
          listed="role=query role=key")
TABLE.add("xpos", "growth_missing", "growth", {"growth": lambda g, q: EXACT(1)}, CASES,
          listed="growth_missing")
TABLE.add("xpos", "growth_squared", "growth", {"growth": lambda g, q: g * g}, CASES,
          listed="growth_twice")
TABLE.add("xpos", "growth_reversed", "growth", {"growth": lambda g, q: g[..., ::-1]}, CASES)
TABLE.add("xpos", "growth_of_first_pair", "growth", {"growth": lambda g, q: g[..., :1] + 0 * g},
          CASES)

FREQUENCIES = "plain plain_f64 llama3 halves half_width paper tensor2tensor"
BOTH = "rope_frequencies rope_cos_sin sinusoidal"
for name, stage, change, kind, figures in (
    ("times_1.5", "frequency", lambda f, q: f * EXACT("1.5"), "frequency_ratio", {"ratio": 1.5}),
    ("reversed", "frequency", lambda f, q: f[::-1], "frequency_order", {}),
    ("rolled_1", "frequency", lambda f, q: np.roll(f, 1), "frequency_order", {}),
    ("index_2", "index", lambda k, q: k + 2, "exponent_shift", {}),
    ("upper_eighth", "frequency",
     lambda f, q: np.where(np.arange(len(f)) >= 13, f / 8, f), "frequency_plateau",
     {"ratio": 0.125}),
    ("pair_4_twice", "frequency",
     lambda f, q: np.where(np.arange(len(f)) == 4, f * 2, f), "frequency_of_pair", {"ratio": 2}),
):
    TABLE.add(BOTH, name, kind, {stage: change}, FREQUENCIES, **figures)
for base in (12345, 2000):
    TABLE.add(BOTH, f"base_{base}", "base", changed(base=base), FREQUENCIES, base=base)
for name, change, kind, figures in (
    ("clamped_999", lambda p, q: np.minimum(p, 999), "position_clamped", {"limit": 999}),
    ("wrapped_1000", lambda p, q: p % 1000, "position_wrapped", {"limit": 1000}),
    ("offset_3", lambda p, q: p + 3, "position_offset", {"shift": 3}),
    ("halved", lambda p, q: p / 2, "position_scaled", {"ratio": 0.5}),
):
    TABLE.add("rope_cos_sin sinusoidal", name, kind, {"position": change},
              "halves half_width tensor2tensor" + (" paper" if "ed" not in name else ""), **figures)
for words in (dict(scaling__factor=6), dict(scaling__high_freq_factor=3),
              dict(scaling__beta_fast=20), dict(scaling__original_max_position_embeddings=3000)):
    word, value = next(iter(words.items()))
    cases = {"scaling__high_freq_factor": "llama3", "scaling__beta_fast": "yarn"}
    TABLE.add("rope_frequencies rope_cos_sin", f"{word[9:]}_{value}", "scaling", changed(**words),
              cases.get(word, "llama3 yarn"), value=value)
TABLE.add("rope_frequencies rope_cos_sin", "gain_1.3", "amplitude",
          {"amplitude": lambda a, q: a * EXACT("1.3")}, "plain yarn halves half_width", gain=1.3)
TABLE.add("rope_cos_sin", "cos_sin_swapped", "cos_and_sin", {"cos_sin": lambda t, q: t[::-1]},
          "halves half_width yarn", listed="cos_and_sin_swapped")
TABLE.add("rope_cos_sin", "sin_negated", "direction", {"cos_sin": lambda t, q: (t[0], -t[1])},
          "halves half_width", listed="rotates_backwards")
TABLE.add("sinusoidal", "cos_first", "cos_and_sin", {"sin_cos": lambda t, q: t[::-1]},
          "paper tensor2tensor", listed="cos_and_sin_swapped")
TABLE.add("sinusoidal", "layout_exchanged", "layout", {"question": lambda q, _: exchanged(q)},
          "paper tensor2tensor", listed="layout=interleaved layout=concatenated")
TABLE.add("sinusoidal", "denominator_of_paper", "exponent_width", changed(denominator="paper"),
          "tensor2tensor", listed="denominator=paper")
TABLE.add("sinusoidal", "denominator_without_one", "exponent_width",
          {"exponent": lambda e, q: e * (q.M // 2 - 1) / (q.M // 2 + 1)}, "tensor2tensor")


def exchanged(q):
    other = {"interleaved": "concatenated", "concatenated": "interleaved"}[q.layout]
    return changed(layout=other)["question"](q, q)
