"""How llama.cpp tells ggml a rotary scaling: the parameters of ggml_rope_ext and ggml_rope_multi.

Sources: llama.cpp, src/llama-context.cpp and src/llama-graph.cpp (freq_base, freq_scale, ext_factor,
attn_factor), convert_hf_to_gguf.py (rope_freqs, rope_factors_long, rope_factors_short).
"""

import ctypes
import math
from dataclasses import dataclass

from sextant_adapter import Unsupported


@dataclass
class Rotary:
    """Angle of pair k: position * base^(-2k/R) / factors[k] * scale, with YaRN's ramp if ext is 1."""

    base: float
    scale: float = 1.0
    factors: list = None
    ext: float = 0.0
    amplitude: float = 1.0  # attn_factor; ggml multiplies it by 1 + ln(1/scale)/10 if ext is not 0
    beta_fast: float = 32.0
    beta_slow: float = 1.0
    context: int = 0  # n_ctx_orig

    def floats(self):
        return (self.base, self.scale, self.ext, self.amplitude, self.beta_fast, self.beta_slow)


def rotary(library, base, scaling, seq_len, R):
    """The parameters of a scaling {"type": ..., its parameters}."""
    given = dict(scaling)
    kind = given.pop("type")
    if kind not in _KINDS:
        raise Unsupported(f"scaling {kind}")
    return _KINDS[kind](Rotary(base), R=R, seq_len=seq_len, library=library, **given)


def _none(rope, **_):
    return rope


def _linear(rope, factor, **_):
    rope.scale = 1 / factor
    return rope


def _grown(rope, growth, R):
    rope.base *= growth ** (R / (R - 2))
    return rope


def _ntk(rope, factor, R, **_):
    return _grown(rope, factor, R)


def _dynamic(rope, factor, max_position_embeddings, R, seq_len, **_):
    length = max(seq_len or 0, max_position_embeddings)
    return _grown(rope, factor * length / max_position_embeddings - (factor - 1), R)


def _ntk_mixed(rope, factor, mixed_b, R, **_):
    rope.factors = [factor ** ((2 * (k + 1) / R) ** mixed_b) for k in range(R // 2)]
    return rope


def _llama3(rope, factor, low_freq_factor, high_freq_factor, original_max_position_embeddings, R, **_):
    rope.factors = []
    for k in range(R // 2):
        rotations = original_max_position_embeddings * rope.base ** (-2 * k / R) / (2 * math.pi)
        if low_freq_factor == high_freq_factor:
            smooth = float(rotations > low_freq_factor)
        else:
            smooth = (rotations - low_freq_factor) / (high_freq_factor - low_freq_factor)
            smooth = min(max(smooth, 0.0), 1.0)
        rope.factors.append(1 / ((1 - smooth) / factor + smooth))
    return rope


def _longrope(rope, short_factor, long_factor, original_max_position_embeddings, factor,
              attention_factor, short_mscale, long_mscale, seq_len, **_):  # fmt: skip
    long = (seq_len or 0) > original_max_position_embeddings
    rope.factors = long_factor if long else short_factor
    given = long_mscale if long else short_mscale
    if attention_factor is not None:
        rope.amplitude = attention_factor
    elif given is not None:
        rope.amplitude = given
    elif factor > 1:
        rope.amplitude = math.sqrt(1 + math.log(factor) / math.log(original_max_position_embeddings))
    return rope


def _magnitude(factor, m):
    return 1.0 if factor <= 1 else 1 + 0.1 * m * math.log(factor)


def _yarn(rope, factor, original_max_position_embeddings, beta_fast, beta_slow, truncate, ramp,
          crossed, attention_factor, mscale, mscale_all_dim, R, library, **_):  # fmt: skip
    if ramp != "index" or not truncate:
        raise Unsupported("ggml has only YaRN's ramp over truncated indices of pairs")
    rope.scale, rope.ext, rope.context = 1 / factor, 1.0, int(original_max_position_embeddings)
    rope.beta_fast, rope.beta_slow = beta_fast, beta_slow
    limits = (ctypes.c_float * 2)()
    library.base.ggml_rope_yarn_corr_dims(
        R, rope.context, ctypes.c_float(rope.base), ctypes.c_float(beta_fast),
        ctypes.c_float(beta_slow), limits)  # fmt: skip
    if limits[0] > limits[1] and crossed != "step":
        raise Unsupported("where YaRN's limits cross, ggml takes a step")
    amplitude = _magnitude(factor, 1)
    if attention_factor is not None:
        amplitude = attention_factor
    elif mscale and mscale_all_dim:
        amplitude = _magnitude(factor, mscale) / _magnitude(factor, mscale_all_dim)
    rope.amplitude = amplitude / (1 + 0.1 * math.log(factor))
    return rope


_KINDS = {"none": _none, "linear": _linear, "ntk": _ntk, "dynamic": _dynamic,
          "ntk_mixed": _ntk_mixed, "llama3": _llama3, "longrope": _longrope, "yarn": _yarn}  # fmt: skip
